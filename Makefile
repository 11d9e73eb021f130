# The README's two commands. Everything else is for those who work on ktui itself.
PYTHON ?= python3
VENV ?= .venv
# Test processes at a time: one more than CI has cores, as many tests wait for processes of their own. A file of tests
# stays in one of them, so its fixtures are made once.
WORKERS ?= 3
BIN := $(VENV)/bin

# Where Python may not keep what it compiled, each process of a test would compile ktui again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: run test check lint types contracts unit bench fix clean

run: $(VENV)/.run
	$(BIN)/ktui

test: check

# Two at a time: mypy has one core for a minute, and the tests have what is left of both.
check: $(VENV)/.test
	$(MAKE) --no-print-directory --jobs 2 lint types contracts unit

lint: $(VENV)/.test
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

types: $(VENV)/.test
	$(BIN)/mypy

contracts: $(VENV)/.test
	$(BIN)/lint-imports --no-cache

unit: $(VENV)/.test
	$(BIN)/pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder

bench: $(VENV)/.test
	$(BIN)/python -m tests.benchmarks

fix: $(VENV)/.test
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV) || { echo "make: no venv module: install Debian's python3-venv" >&2; rm -rf $(VENV); exit 1; }

$(VENV)/.run: $(VENV)/bin/python pyproject.toml
	$(BIN)/python -m pip install --quiet --editable .
	touch $@

$(VENV)/.test: $(VENV)/bin/python pyproject.toml
	$(BIN)/python -m pip install --quiet --no-compile --editable '.[test]'
	@# On all cores, where pip compiles on one. What is written for another Python is left as it is.
	$(BIN)/python -m compileall -qq -j 0 $(VENV)/lib engine ktui || true
	$(BIN)/python -m tests.helm_binary $(BIN)/helm || echo "make: the tests with Helm are left out" >&2
	touch $@ $(VENV)/.run

clean:
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
