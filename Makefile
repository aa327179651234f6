# The only entry points, for people and for CI. They need Python ≥ 3.11 and make; everything
# else goes into .venv here. All paths are relative, so the folder may be named anything.

.DEFAULT_GOAL := help
SHELL := /bin/sh
MAKEFLAGS += --no-print-directory
# What would make a virtual environment something else than it is, or each process compile all modules anew.
unexport PYTHONHOME PYTHONPATH PIP_USER PIP_TARGET PIP_PREFIX VIRTUAL_ENV PYTHONDONTWRITEBYTECODE

VENV := .venv
VENV15 := .venv-duckdb15
PY := $(VENV)/bin/python
PIP := -m pip --disable-pip-version-check --quiet install --require-hashes
# An environment is good for one folder (its scripts and the editable install hold the path).
HERE := $(shell pwd | cksum | cut -d ' ' -f 1)
STAMP := $(VENV)/.installed-$(HERE)
STAMP_DEV := $(VENV)/.installed-dev-$(HERE)
STAMP15 := $(VENV15)/.installed-$(HERE)
# Tests run in parallel, and each worker has a stretch of them, so that it makes few worlds of its own.
# PYTEST_ARGS="-k name -n 0" narrows or steps through them.
JOBS ?= auto
PYTEST_ARGS ?=

.PHONY: help demo test unit fuzz check format accept bench bench-servers peers docs lock clean install test-duckdb15 servers

help:
	@echo 'make demo           a four-shard shop cluster, some questions and their plans'
	@echo 'make test           all tests (minutes)'
	@echo 'make unit           unit and golden tests (within half a minute)'
	@echo 'make fuzz           random statements over random databases; SECONDS=600 SEED=7 DIALECT=duckdb, mysql, postgres, sqlite, all'
	@echo 'make servers        install MariaDB and PostgreSQL by apt, for the tests that need them'
	@echo 'make check          lint, format, types and layers'
	@echo 'make format         let ruff put the code in order'
	@echo 'make accept         rewrite the golden plans; read the diff before you commit it'
	@echo 'make bench          measure, and write docs/benchmarks.md and .json'
	@echo 'make bench-servers  measure on MariaDB and PostgreSQL, and write docs/benchmarks-servers.md and .json'
	@echo 'make docs           write the pages that are made from the code'
	@echo 'make test-duckdb15  the smoke run on DuckDB 1.5'
	@echo 'make lock           compile requirements/ from the ranges in pyproject.toml'
	@echo 'make clean          remove environments, caches and what the demo made'

# -- environments ---------------------------------------------------------------------

# The first of these that runs, is new enough and can make an environment.
define make_venv
	@found=''; \
	for python in "$${PYTHON:-python3}" python3 python3.13 python3.12 python3.11 python3.14 python; do \
	  if "$$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; then \
	    found="$$python"; \
	    if "$$python" -c 'import venv, ensurepip' >/dev/null 2>&1; then break; fi; \
	  fi; \
	done; \
	if [ -z "$$found" ]; then \
	  echo 'shardwise needs Python 3.11 or newer, and found none. Install one, or name it: PYTHON=/path/to/python3.12 make …' >&2; exit 1; \
	fi; \
	if ! "$$found" -c 'import venv, ensurepip' >/dev/null 2>&1; then \
	  echo "$$found cannot make virtual environments (on Debian and Ubuntu: apt install python3-venv)." >&2; exit 1; \
	fi; \
	rm -rf $(1); \
	"$$found" -m venv $(1) && echo "Installing into $(1), with $$($(1)/bin/python --version)"
endef

install: $(STAMP_DEV)

# What a user gets, from the lock.
$(STAMP): requirements/lock.txt
	$(call make_venv,$(VENV))
	@$(PY) $(PIP) -r requirements/lock.txt
	@$(PY) -m pip --disable-pip-version-check --quiet install --no-deps --no-build-isolation --editable .
	@touch $@

# What a developer gets: the same and more, so an environment that has it serves both.
$(STAMP_DEV): requirements/dev-lock.txt $(STAMP)
	@echo 'Installing the development tools'
	@$(PY) $(PIP) -r requirements/dev-lock.txt
	@touch $@

$(STAMP15): requirements/dev-lock.txt requirements/duckdb15.txt
	$(call make_venv,$(VENV15))
	@$(VENV15)/bin/python $(PIP) -r requirements/dev-lock.txt
	@$(VENV15)/bin/python $(PIP) --no-deps -r requirements/duckdb15.txt
	@touch $@

# -- what people run ------------------------------------------------------------------

demo: $(STAMP)
	@$(PY) -m shardwise.cli demo

test: $(STAMP_DEV)
	@$(PY) -m pytest -n $(JOBS) --maxprocesses 8 --dist worksteal $(PYTEST_ARGS)

unit: $(STAMP_DEV)
	@$(PY) -m pytest -n $(JOBS) --maxprocesses 8 --dist worksteal -m 'not slow' tests/unit tests/golden $(PYTEST_ARGS)

# SECONDS=600 for longer, SEED=7 for that world first, DIALECT=mysql, postgres (which need servers), sqlite or all.
SECONDS ?= 60
DIALECT ?= duckdb
fuzz: $(STAMP_DEV)
	@$(PY) -m tests.fuzz --seconds $(SECONDS) --dialect $(DIALECT) $(if $(SEED),--seed $(SEED)) $(FUZZ_ARGS)

test-duckdb15: $(STAMP15)
	@$(VENV15)/bin/python -m pytest -n $(JOBS) --maxprocesses 8 --dist worksteal -m 'not duckdb2' tests/unit tests/integration tests/oracle/test_pitfalls.py $(PYTEST_ARGS)

# Debian's packages. What is there already is left as it is; apt-get needs root.
servers:
	@if command -v mariadbd >/dev/null && ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1; then \
	  echo 'MariaDB and PostgreSQL are installed.'; \
	else \
	  if [ "$$(id -u)" = 0 ]; then as_root=''; else as_root=sudo; fi; \
	  export DEBIAN_FRONTEND=noninteractive; \
	  $$as_root apt-get update -qq && \
	  $$as_root apt-get install -qq -y --no-install-recommends mariadb-server-core mariadb-client-core postgresql; \
	fi

check: $(STAMP_DEV)
	@$(PY) -m ruff check .
	@$(PY) -m ruff format --check .
	@$(PY) -m mypy
	@$(PY) -c 'from importlinter.cli import lint_imports_command; lint_imports_command()' --no-cache --no-logo
	@echo 'All checks passed.'

format: $(STAMP_DEV)
	@$(PY) -m ruff check --fix .
	@$(PY) -m ruff format .

accept: $(STAMP_DEV)
	@SHARDWISE_ACCEPT=1 $(PY) -m pytest -p no:randomly tests/golden $(PYTEST_ARGS)
	@git --no-pager diff --stat -- tests/golden 2>/dev/null || true

bench: $(STAMP_DEV)
	@$(PY) -m benchmarks

bench-servers: $(STAMP_DEV) servers peers
	@PYTHONPATH=.cache/peers $(PY) -m benchmarks.servers

# mysqlclient, which is built from source: the page says so where it could not be. The other peers are in the lock.
peers: $(STAMP_DEV)
	@if [ -d .cache/peers/MySQLdb ]; then exit 0; fi; \
	if ! command -v cc >/dev/null || ! command -v pkg-config >/dev/null || ! command -v mariadb_config >/dev/null; then \
	  if [ "$$(id -u)" = 0 ]; then as_root=''; else as_root='sudo -n'; fi; \
	  DEBIAN_FRONTEND=noninteractive $$as_root apt-get install -qq -y --no-install-recommends \
	    gcc libc6-dev pkg-config libmariadb-dev >/dev/null 2>&1; \
	fi; \
	$(PY) -m pip --disable-pip-version-check --quiet install --target .cache/peers mysqlclient 2>/dev/null \
	  || echo 'mysqlclient could not be installed: it is left out'

docs: $(STAMP_DEV)
	@$(PY) -m shardwise.plan.reasons > docs/reasons.new && mv docs/reasons.new docs/reasons.md

lock: $(STAMP_DEV)
	@$(PY) -m venv .cache/lock && .cache/lock/bin/python -m pip --quiet install 'pip-tools>=7.5'
	@.cache/lock/bin/python requirements/compile.py

clean:
	@rm -rf .venv .venv-duckdb15 .cache .hypothesis .ruff_cache .mypy_cache .pytest_cache .import_linter_cache demo build dist
	@find shardwise tests benchmarks -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true
