# Two commands set everything up: `make demo` and `make test`. Both need python3 (3.11+) and the package registry.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Two test processes share the machine: each keeps its numerical libraries to one thread.
PYTEST := OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 $(BIN)/python -m pytest

# The oldest Python that is supported, and the newest for which every dependency has a wheel.
OLDEST_PYTHON ?= python3.11
NEWEST_PYTHON ?= python3.13

.PHONY: demo test test-slow lint types contracts check smoke-oldest smoke-newest clean

demo: $(VENV)/.base
	$(BIN)/fewsight demo --output fewsight-demo

test: $(VENV)/.test
	$(PYTEST) -n 2 -m "not slow"

test-slow: $(VENV)/.test
	$(PYTEST) -n 2 -m slow

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.dev
	$(BIN)/mypy

contracts: $(VENV)/.dev
	$(BIN)/lint-imports

# The declared dependencies are true: fewsight works with the least versions of all of them, and with the newest.
smoke-oldest:
	$(OLDEST_PYTHON) tests/smoke/dependency_sets.py oldest

smoke-newest:
	$(NEWEST_PYTHON) tests/smoke/dependency_sets.py newest

check: test test-slow lint types contracts

clean:
	rm -rf $(VENV) fewsight-demo

$(VENV)/bin/python:
	$(PYTHON) -c 'import sys; sys.exit("fewsight needs Python 3.11 or newer, this is " + sys.version.split()[0] if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv $(VENV)

# One stamp for each set of extras: pip runs again only when pyproject.toml changes.
$(VENV)/.base: $(VENV)/bin/python pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	touch $@

$(VENV)/.test: $(VENV)/bin/python pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[test]'
	touch $@

$(VENV)/.dev: $(VENV)/bin/python pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	touch $@
