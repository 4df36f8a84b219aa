# Two commands do everything on a machine that has only Python (3.11 or later) and make:
#   make demo   sets up what it needs and scores the bundled dump
#   make test   sets up what it needs and runs the whole test suite
# Another Python: make test PYTHON=python3.12. Another place for the environment: make test VENV=/some/where.

PYTHON ?= python3
VENV ?= .venv
LOWEST ?= .venv-lowest
BIN = $(VENV)/bin
RUN = $(VENV)/.ready-run
DEV = $(VENV)/.ready-test
# What runs with the JIT off as well; the tests of the JIT itself do not.
KERNEL_TESTS = $(filter-out tests/test_kernels_jit.py,$(wildcard tests/test_kernels_*.py tests/test_metrics_*.py))

.PHONY: help demo test quick lint nojit lowest bench readme data clean

help:
	@echo "make demo    score the bundled dump"
	@echo "make test    lint, types, the kernels with the JIT off, and every test"
	@echo "make quick   the tests without the slow ones"
	@echo "make lint    ruff and mypy alone"
	@echo "make nojit   the kernels' tests with the JIT off"
	@echo "make lowest  the tests with the lowest versions that pyproject.toml allows"
	@echo "make bench   the benchmarks, quick (asv)"
	@echo "make readme  write the README's outputs and tables anew"
	@echo "make data    write the bundled data anew"
	@echo "make clean   remove environments, caches and builds"

demo: $(RUN)
	@echo '$$ fastpassk curve data/samples.parquet --k 1,2,5,10,50,100,200 --unit percent --layout wide'
	@$(BIN)/fastpassk curve data/samples.parquet --k 1,2,5,10,50,100,200 --unit percent --layout wide

test: lint nojit
	$(BIN)/python -m pytest -m "slow or not slow"

quick: $(DEV)
	$(BIN)/python -m pytest

lint: $(DEV)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

nojit: $(DEV)
	NUMBA_DISABLE_JIT=1 $(BIN)/python -m pytest $(KERNEL_TESTS)

lowest:
	$(MAKE) VENV=$(LOWEST) EXACT='$(shell $(PYTHON) tests/lowest.py)' quick

bench: $(DEV)
	$(BIN)/asv machine --yes --config benchmarks/asv.conf.json
	$(BIN)/asv check --config benchmarks/asv.conf.json --python=same
	$(BIN)/asv run --config benchmarks/asv.conf.json --python=same --quick --show-stderr

readme: $(DEV)
	$(BIN)/python tests/test_readme.py --write

data: $(RUN)
	$(BIN)/python data/make_data.py

clean:
	rm -rf $(VENV) $(LOWEST) build dist benchmarks/.asv .pytest_cache .hypothesis .ruff_cache .mypy_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# The environment: made once, brought up to date when pyproject.toml changes. The stamps make reruns quick.

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo 'fastpassk needs Python 3.11 or later; say which one: make PYTHON=python3.12 ...' >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || \
	  { echo 'This Python cannot make environments (no ensurepip). On Debian or Ubuntu: apt-get install python3-venv;' \
	  'or name another one: make PYTHON=python3.12 ...' >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(RUN): pyproject.toml fastpassk/_version.py | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable . $(EXACT)
	@touch $@

$(DEV): pyproject.toml fastpassk/_version.py | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[test]' $(EXACT)
	@touch $@ $(RUN)
