# Everything is made inside this folder: .venv, .agents, .cache, .demo. `make clean` removes it again.

.DEFAULT_GOAL := help
.PHONY: help demo test test-fast lint bench agents agents-demo venv system-packages clean
.DELETE_ON_ERROR:
MAKEFLAGS += --no-print-directory

export PIP_CACHE_DIR := $(CURDIR)/.cache/pip
export PIP_DISABLE_PIP_VERSION_CHECK := 1

BIN := .venv/bin
PY := $(BIN)/python
# pip asks `rustc` for its version; where that is rustup's shim, it would make a folder in the home
TIDY := RUSTUP_HOME=$(CURDIR)/.cache/rustup
VENV := .venv/made
# how many tests run at once, beside each other and with the real agents
JOBS ?= 2

help: ## say what can be made
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: agents-demo ## set all up, then show one line of work crossing Claude Code and Codex
	@$(PY) -m lab.demo

test: agents ## set all up, then run all tests, with the real agents
	$(PY) -m pytest -m "not real" -n $(JOBS) tests
	@echo "The real agents of the tests that follow:" && $(PY) -m lab.agents list
	$(PY) -m pytest -m real -n $(JOBS) tests

test-fast: $(VENV) ## the tests that need no agent
	$(PY) -m pytest -m "not real" -n $(JOBS) tests

lint: $(VENV) ## ruff, mypy and the direction of imports
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# In an environment of its own, with what users have: a package that only developers have can cost a start as much again.
bench: $(VENV) ## the benchmarks, as ratios to the bare interpreter
	@test -x .cache/plain/bin/python || $(TIDY) $(PY) -m venv .cache/plain
	@$(TIDY) .cache/plain/bin/python -m pip install --quiet --force-reinstall .
	PYTHONPATH=. .cache/plain/bin/python -m benchmarks

agents: $(VENV) ## install the pinned agents from npm (2.5 GB)
	@scripts/system-packages nodejs npm
	@$(PY) -m lab.agents install

agents-demo: $(VENV)
	@scripts/system-packages nodejs npm
	@$(PY) -m lab.agents install --demo

venv: $(VENV) ## make the private virtual environment

system-packages:
	@scripts/system-packages git tmux procps python3

# The system's packages are looked at each time, which costs next to nothing; the environment is made when pyproject changed.
$(VENV): pyproject.toml | system-packages
	@test -x $(PY) || { python=$$(scripts/find-python) && echo "making .venv with $$python" && $(TIDY) "$$python" -m venv .venv; }
	@$(TIDY) $(PY) -m pip install --quiet --upgrade "pip>=25.1"
	@$(TIDY) $(PY) -m pip install --quiet --editable . --group dev
	@touch $@

clean: ## remove everything that was made here
	rm -rf .venv .agents .cache .demo .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache dist build
	find src lab tests benchmarks docs -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true
