# Two commands set everything up: `make demo` and `make test`. Both need python3 (3.11+) and the package registry.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Two test processes share the machine: each keeps its numerical libraries to one thread.
PYTEST := OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 $(BIN)/python -m pytest

.PHONY: demo test test-slow lint types contracts check clean

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
