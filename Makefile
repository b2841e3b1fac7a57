# The two commands of a newcomer:  make demo   and   make test
# Both work in a virtual environment of their own, .venv, which is made at the first call.

PYTHON ?= python3
VENV := .venv
ifeq ($(OS),Windows_NT)
BIN := $(VENV)/Scripts
else
BIN := $(VENV)/bin
endif
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.PHONY: demo test lint types docs clean help

help:
	@echo "make demo    crawl the example site and report its near-duplicates"
	@echo "make test    lint, types and the whole test suite"
	@echo "make docs    build the documentation into docs/_build/html"
	@echo "make clean   remove what the other targets made"

demo: $(VENV)/.installed
	cd example_project && ../$(BIN)/python demo.py

test: lint types
	$(BIN)/python -m pytest -q

lint: $(VENV)/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.installed-dev
	$(BIN)/mypy

docs: $(VENV)/.installed-dev
	$(BIN)/python -m sphinx -W -q -b html docs docs/_build/html
	@echo "docs/_build/html/index.html"

# The stamps are newer than pyproject.toml once its dependencies are installed, so that later calls need no network.
$(VENV)/.installed: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install -q -e .
	@touch $@

$(VENV)/.installed-dev: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install -q -e ".[dev]"
	@touch $(VENV)/.installed $@

clean:
	rm -rf $(VENV) build dist docs/_build example_project/out *.egg-info .mypy_cache .pytest_cache .ruff_cache .hypothesis
