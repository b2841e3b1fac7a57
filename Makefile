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

KERNEL := setup.py $(wildcard $(addprefix scrapy_simhash/kernel/,*.pyx *.pxd *.pxi c/* hamming/*))
# The tests that read pages, for a run without the kernel; the others never meet it.
READING := tests/text tests/features tests/fingerprint tests/language tests/test_golden.py \
	tests/test_fingerprinter.py tests/crawl/test_magazine.py tests/crawl/test_annex.py
# One line that says which implementation runs, after the kernel has shown that it reads a page as it should.
WHICH := $(BIN)/python -c "from scrapy_simhash import PageFingerprinter as P, kernel as k; \
	P(); print('Kernel:', k.NAME + (k.REASON and ', for ' + k.REASON))"

.PHONY: demo shared test kernel pure fuzz lint types docs clean help

help:
	@echo "make demo    crawl the example site and report its near-duplicates"
	@echo "make shared  the same by two spiders that share a queue and an index in Redis"
	@echo "make test    lint, types and the whole test suite"
	@echo "make kernel  build the compiled kernel again if its sources changed"
	@echo "make pure    the tests that read pages, without the compiled kernel"
	@echo "make fuzz    half a minute of random pages and indexes through both implementations"
	@echo "make docs    build the documentation into docs/_build/html"
	@echo "make clean   remove what the other targets made"

demo: $(VENV)/.installed
	@$(WHICH)
	cd example_project && ../$(BIN)/python demo.py

shared: $(VENV)/.installed-example
	@$(WHICH)
	cd example_project && ../$(BIN)/python shared.py

kernel: $(VENV)/.kernel

test: lint types kernel
	@$(WHICH)
	$(BIN)/python -m pytest -q

pure: export SCRAPY_SIMHASH_KERNEL := pure
pure: $(VENV)/.installed-dev
	@$(WHICH)
	$(BIN)/python -m pytest -q $(READING)

fuzz: $(VENV)/.installed-dev
	$(BIN)/python fuzz/run.py --seconds 20
	$(BIN)/python fuzz/index.py --seconds 10

lint: $(VENV)/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.installed-dev
	$(BIN)/mypy

docs: $(VENV)/.installed-dev
	$(BIN)/python -m sphinx -W -q -b html docs docs/_build/html
	@echo "docs/_build/html/index.html"

# The stamps are newer than what they were made from, so that later calls need no network. Who has the tools of a
# developer builds a changed kernel with them.
$(VENV)/.installed: pyproject.toml $(KERNEL)
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install -q -e .
	@touch $@

$(VENV)/.installed-example: $(VENV)/.installed
	$(BIN)/python -m pip install -q -e ".[example]"
	@touch $@

$(VENV)/.installed-dev: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install -q -e ".[dev]"
	@touch $(VENV)/.installed $@ $(VENV)/.kernel

$(VENV)/.kernel: $(KERNEL) $(VENV)/.installed-dev
	$(BIN)/python setup.py -q build_ext --inplace
	@touch $(VENV)/.installed $@

clean:
	rm -f $(foreach door,_native _hamming,$(addprefix scrapy_simhash/kernel/$(door),.c .*.so .pyd))
	rm -rf $(VENV) build dist docs/_build example_project/out *.egg-info .mypy_cache .pytest_cache .ruff_cache .hypothesis
