# Two commands set everything up: `make demo` and `make test`. Both need python3 (3.11+) and the package registry.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Two test processes share the machine: each keeps its numerical libraries to one thread.
PYTEST := OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 $(BIN)/python -m pytest

# The oldest Python that is supported, and the newest for which every dependency has a wheel.
OLDEST_PYTHON ?= python3.11
NEWEST_PYTHON ?= python3.13

.PHONY: demo test test-slow lint types contracts check coverage docs docs-visit dist release smoke-oldest smoke-newest clean

demo: $(VENV)/.base
	$(BIN)/fewsight demo --output fewsight-demo

test: $(VENV)/.test
	$(PYTEST) -n 2 --dist worksteal -m "not slow"

test-slow: $(VENV)/.test
	$(PYTEST) -n 2 --dist worksteal -m slow

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.dev
	$(BIN)/mypy

contracts: $(VENV)/.dev
	$(BIN)/lint-imports

# The documentation site, in build/docs. Every tutorial is run, every warning is an error, and nothing is fetched from outside.
docs: $(VENV)/.docs
	$(BIN)/python -m sphinx --jobs 2 --fail-on-warning --keep-going --quiet docs build/docs
	$(BIN)/python docs/site/offline.py build/docs

# The main pages of that site in a browser (chromium): no serious violation found by axe-core, nothing asked of the outside.
docs-visit: docs $(VENV)/.test
	$(BIN)/python docs/site/visit.py build/docs

# The declared dependencies are true: fewsight works with the least versions of all of them, and with the newest.
smoke-oldest:
	$(OLDEST_PYTHON) tests/smoke/dependency_sets.py oldest

smoke-newest:
	$(NEWEST_PYTHON) tests/smoke/dependency_sets.py newest

# Built into dist/, checked, and tried in clean environments of the oldest and the newest Python; `release` also demands a clean tree and
# a dated changelog, and tags.
dist:
	$(PYTHON) tests/smoke/release.py --draft --python $(OLDEST_PYTHON) $(NEWEST_PYTHON)

release:
	$(PYTHON) tests/smoke/release.py --python $(OLDEST_PYTHON) $(NEWEST_PYTHON)

# Which lines and branches the quick tests run.
coverage: $(VENV)/.dev
	$(PYTEST) -n 2 -m "not slow" --cov --cov-report=term:skip-covered --cov-report=html:build/coverage

check: test test-slow lint types contracts

clean:
	rm -rf $(VENV) fewsight-demo build docs/tutorials docs/reference/generated

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

$(VENV)/.docs: $(VENV)/bin/python pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[docs]'
	touch $@
