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
# Python compiles what it imports; most of what is installed is never imported.
export PIP_NO_COMPILE := 1
# So it must be let: else each process of the tests compiles all that it imports, and pytest rewrites each test again.
unexport PYTHONDONTWRITEBYTECODE
PIP := $(BIN)/python -m pip install -q

# What `build-system.requires` in pyproject.toml says, a test compares them: the kernel is built with these in .venv.
BUILD_TOOLS := "setuptools>=77" "Cython>=3.1"
KERNEL := setup.py $(addprefix scrapy_simhash/,judge/second_look.py page/text/main_text.py page/language/choose.py) $(wildcard scrapy_simhash/page/compiled/*.pxd \
	$(addprefix scrapy_simhash/kernel/,*.pyx *.pxd c/* hamming/*))
# The tests that read pages, for a run without the kernel; the others never meet it.
READING := tests/fixtures tests/page/text tests/page/features tests/page/fingerprint tests/page/language tests/page/schemes tests/test_golden.py \
	tests/test_fingerprinter.py tests/crawls/test_magazine.py
# As many processes as there are cores. A file's tests stay in one process, which makes the file's crawls once. The
# order is that of tests/conftest.py: recorded pages, then long files.
PYTEST := $(BIN)/python -m pytest -q -rs -n auto --dist loadfile --no-loadscope-reorder --durations 20 --durations-min 2
# One line that says which implementation runs, after the kernel has shown that it reads a page as it should.
WHICH := $(BIN)/python -c "from scrapy_simhash import PageFingerprinter as P, kernel as k; \
	P(); print('Kernel:', k.NAME + (k.REASON and ', for ' + k.REASON))"

.PHONY: demo shared cluster spark test rest nightly kernel pure fuzz checked lint types docs packages clean help

help:
	@echo "make demo      crawl the example site and report its near-duplicates"
	@echo "make shared    the same by two spiders that share a queue and an index in Redis"
	@echo "make cluster   the same by two crawlers whose index is on a Redis Cluster of six servers"
	@echo "make spark     install Spark, which needs Java, so that make rest runs its tests"
	@echo "make test      lint, types and all tests but the slow ones"
	@echo "make rest      the slow tests"
	@echo "make nightly   all tests with random examples, ten times as many: for a long run without anybody waiting"
	@echo "make kernel    build the compiled kernel again if its sources changed"
	@echo "make pure      the tests that read pages, without the compiled kernel"
	@echo "make fuzz      a quarter of a minute of random pages and wrong calls"
	@echo "make docs      build the documentation into docs/_build/html"
	@echo "make packages  build the source distribution and the wheel in pure Python into dist/, and check them"
	@echo "make clean     remove what the other targets made"

demo: kernel
	@$(WHICH)
	cd example_project && ../$(BIN)/python demo.py

shared: kernel $(VENV)/.installed-example
	@$(WHICH)
	cd example_project && ../$(BIN)/python shared.py

cluster: kernel $(VENV)/.installed-example
	@$(WHICH)
	cd example_project && ../$(BIN)/python cluster.py

spark: $(VENV)/.installed-spark

kernel: $(VENV)/.kernel

test: checked
	@$(WHICH)
	$(PYTEST) -m "not slow" --hypothesis-profile quick

rest: kernel $(VENV)/.installed-dev
	@$(WHICH)
	$(PYTEST) -m slow

nightly: export SIMHASH_ALL_PAGES := 1
nightly: export SIMHASH_CHAOS_SEEDS := 200
nightly: kernel $(VENV)/.installed-dev
	@$(WHICH)
	$(PYTEST) --hypothesis-profile nightly
	$(BIN)/python benchmarks/soak.py

pure: export SCRAPY_SIMHASH_KERNEL := pure
pure: kernel $(VENV)/.installed-dev
	@$(WHICH)
	$(PYTEST) $(READING)

fuzz: kernel $(VENV)/.installed-dev
	$(BIN)/python fuzz/run.py pages --seconds 10
	$(BIN)/python fuzz/run.py objects --seconds 5

# The compiler is at work while types are checked.
checked: $(VENV)/.installed-dev
	@$(MAKE) --no-print-directory -j 3 lint types kernel

lint: $(VENV)/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.installed-dev
	$(BIN)/mypy

docs: $(VENV)/.installed-dev
	$(BIN)/python -m sphinx -W -q -b html docs docs/_build/html
	@echo "docs/_build/html/index.html"

# `twine check` reads what a package index shows. The compiled wheels are made by cibuildwheel, see pyproject.toml.
packages: export SCRAPY_SIMHASH_BUILD := pure
packages: $(VENV)/.installed
	$(PIP) build twine
	$(BIN)/python -m build --outdir dist
	$(BIN)/python -m twine check --strict dist/*

# The stamps are newer than what they were made from, so that later calls need no network. The package is installed
# without its kernel, which has a stamp of its own: it is built once, and again when its sources change, also while it
# is built. What more a target wants is added to what is there; groups of dependencies need a new pip.
$(VENV)/.installed: export SCRAPY_SIMHASH_BUILD := pure
$(VENV)/.installed: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(PIP) "pip>=25.1" $(BUILD_TOOLS)
	$(PIP) --no-build-isolation -e .
	@touch $@

$(VENV)/.installed-example: $(VENV)/.installed
	$(PIP) --group example
	@touch $@

$(VENV)/.installed-spark: $(VENV)/.installed
	$(PIP) "scrapy-simhash[duckdb,spark]"
	@touch $@

$(VENV)/.installed-dev: $(VENV)/.installed
	$(PIP) --group dev
	@touch $@

$(VENV)/.kernel: $(KERNEL) | $(VENV)/.installed
	@touch $@.begun
	$(BIN)/python setup.py -q build_ext --inplace --parallel 2
	@mv $@.begun $@

clean:
	rm -f $(foreach made,kernel/_native kernel/_hamming page/compiled/_*,$(addprefix scrapy_simhash/$(made),.*.so .pyd))
	rm -rf $(VENV) build dist docs/_build example_project/out *.egg-info .mypy_cache .pytest_cache .ruff_cache .hypothesis
