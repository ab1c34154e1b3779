# Needs python3 (3.11 or newer, with venv), make and a package index. `make help` lists the targets.
PYTHON  ?= python3
ADDRESS ?= localhost
PORT    ?= 8501
CORPUS  ?= ../shared/data
SLUG    ?= rnn_search
MINUTES ?= 30

VENV := .venv
BIN  := $(VENV)/bin
export PYTHONPATH := $(CURDIR)

# A stamp is named after the checksum of what was installed, so a changed pin installs again and nothing else does.
sum       = $(shell cat $(1) 2>/dev/null | cksum | cut -d' ' -f1)
RUN_STAMP := $(VENV)/installed-run-$(call sum,requirements.txt)
DEV_STAMP := $(VENV)/installed-dev-$(call sum,requirements.txt requirements-dev.txt)

.PHONY: help run test check format train bench clean
.DEFAULT_GOAL := help

help:  ## list the targets
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 10

run: $(RUN_STAMP)  ## open the app: make run [PORT=8501] [ADDRESS=0.0.0.0]
	@echo "Sequence Explorer: http://$(ADDRESS):$(PORT)   (Ctrl-C stops it)"
	@$(BIN)/python -m streamlit run app/main.py --server.port $(PORT) --server.address $(ADDRESS)

test: $(DEV_STAMP)  ## every test: unit, property, AppTest and real Chromium
	@sh tests/install_chromium.sh
	@$(BIN)/python -m pytest

check: $(DEV_STAMP)  ## ruff and pyright
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/pyright

format: $(DEV_STAMP)  ## ruff format, and the fixes ruff can make itself
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix .

train: $(RUN_STAMP)  ## train one system: make train SLUG=rnn_search CORPUS=DIR MINUTES=30
	@$(BIN)/python -m models train $(SLUG) --corpus $(CORPUS) --minutes $(MINUTES) --resume

bench: $(DEV_STAMP)  ## the benchmarks of the page (real Chromium, websocket sessions)
	@sh tests/install_chromium.sh
	@$(BIN)/python -m tests.benchmarks

clean:  ## remove the environment and every cache
	rm -rf $(VENV) .pytest_cache .ruff_cache .hypothesis tests/browser/shots

$(BIN)/pip:  # made last by venv, so an interrupted one is made again
	@$(PYTHON) -c 'import sys; v = sys.version_info[:2]; sys.exit(None if v >= (3, 11) else "Sequence Explorer needs Python 3.11 or newer; this is %d.%d. Try: make PYTHON=python3.12 run" % v)'
	@echo "Making $(VENV) ..."
	@$(PYTHON) -m venv $(VENV)

$(RUN_STAMP): requirements.txt | $(BIN)/pip
	@echo "Installing the app's packages into $(VENV) (once; torch is the large one) ..."
	@$(BIN)/python -m pip install --disable-pip-version-check --progress-bar on -r requirements.txt
	@rm -f $(VENV)/installed-run-* && touch $@

$(DEV_STAMP): requirements-dev.txt $(RUN_STAMP)
	@echo "Installing the test tools ..."
	@$(BIN)/python -m pip install --disable-pip-version-check --progress-bar on -r requirements-dev.txt
	@rm -f $(VENV)/installed-dev-* && touch $@
