# Two commands on a fresh machine: `make demo` and `make test`. Each sets up .venv by itself.
PYTHON ?= python3
# Processes that run the tests, with one thread each: one more than there are processors, since
# tests of pages wait for the browser.
WORKERS ?= $(shell echo $$(($$(getconf _NPROCESSORS_ONLN) + 1)))
VENV := .venv
BIN := $(VENV)/bin
MINIMUM := .venv-minimum
ON_MINIMUM := NUMBA_CACHE_DIR=$(abspath $(MINIMUM))/numba $(MINIMUM)/bin/python
DATA := $(abspath $(wildcard ../shared/data))
ifneq ($(DATA),)
export BELTRAMI_DATA ?= $(DATA)
endif

SIDE_BY_SIDE := -n $(WORKERS) --maxprocesses 8 --dist worksteal

.PHONY: demo install checks test test-all test-minimum test-device coverage fuzz kills lint types layers unit bench contest manifold mbed separation partitions door trust figures release-check docs clean help

help:  ## Say what can be made
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/'

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Beltrami needs Python 3.11 or newer; '$(PYTHON)' is older. Try: make PYTHON=python3.12 ..."; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip

$(VENV)/.installed: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --editable .
	$(BIN)/beltrami doctor --warm
	@touch $@

$(VENV)/.checks: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --group test --group lint --group bench --group browser
	@touch $@

$(VENV)/.browser: $(VENV)/.checks
	@$(BIN)/python -m tests.support.browser
	@touch $@

demo: $(VENV)/.installed  ## Run the main job on an embedded data set
	$(BIN)/beltrami demo --out out/demo

install: $(VENV)/.browser $(MINIMUM)/.installed  ## All that the tests need

checks: lint types layers  ## Lint, types and layers

test: checks unit  ## Lint, types, layers, and the tests that are not slow

test-all: checks $(VENV)/.browser  ## The same, with slow tests and 5,000 random tables
	$(BIN)/python -m pytest $(SIDE_BY_SIDE) --fuzz 5000 src tests

lint: $(VENV)/.checks  ## Style and docstrings
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/codespell src tests benchmarks docs *.md
	$(BIN)/numpydoc lint $$(git ls-files 'src/*.py')

types: $(VENV)/.checks  ## Strict types
	$(BIN)/mypy

layers: $(VENV)/.checks  ## Data flows one way
	$(BIN)/lint-imports

unit: $(VENV)/.checks $(VENV)/.browser  ## Tests and doctests, without the slow ones
	$(BIN)/python -m pytest $(SIDE_BY_SIDE) -m "not slow" src tests

coverage: $(VENV)/.checks $(VENV)/.browser  ## Lines and branches that these tests reach, into out/coverage
	$(BIN)/python -m pytest $(SIDE_BY_SIDE) -m "not slow" --cov --cov-report term --cov-report html:out/coverage src tests

$(MINIMUM)/.installed: pyproject.toml .ci/minimum.py
	rm -rf $(MINIMUM)
	$(PYTHON) -m venv $(MINIMUM)
	$(PYTHON) .ci/minimum.py > $(MINIMUM)/lowest.txt
	$(MINIMUM)/bin/python -m pip install --quiet --upgrade pip
	$(MINIMUM)/bin/python -m pip install --quiet --requirement $(MINIMUM)/lowest.txt --group test
	$(MINIMUM)/bin/python -m pip install --quiet --no-deps --editable .
	$(ON_MINIMUM) -m beltrami doctor --warm
	@touch $@

test-minimum: $(MINIMUM)/.installed  ## A little of everything, on the oldest libraries we allow
	$(ON_MINIMUM) -m pytest $(SIDE_BY_SIDE) -W default tests/minimum

test-device: $(VENV)/.checks  ## Every backend that can be had: torch's where it is installed (pip install ".[gpu]")
	$(BIN)/python -m pytest -m "not slow" tests/unit/core/machine/test_backends.py tests/unit/core/machine/test_device.py tests/contests/test_device.py

fuzz: $(VENV)/.checks  ## 5,000 random tables and 2,500 random audits: a valid result or one message
	$(BIN)/python -m pytest $(SIDE_BY_SIDE) tests/property/test_fuzz_label.py tests/property/test_fuzz_audit.py --fuzz 5000

bench: $(VENV)/.checks  ## The contests with peers, at full size
	$(BIN)/python -m benchmarks.peers

contest: $(VENV)/.checks  ## Few labels: ours beside graphlearning, scikit-network and scikit-learn
	$(BIN)/python -m pip install --quiet --group few-labels
	$(BIN)/python -m benchmarks.few_labels
	$(BIN)/python -m benchmarks.regression

manifold: $(VENV)/.checks  ## The Laplacian machines: errors on the papers' sets, seconds and memory
	$(BIN)/python -m benchmarks.manifold.accuracy
	$(BIN)/python -m benchmarks.manifold.defaults
	$(BIN)/python -m benchmarks.manifold.speed

mbed: $(VENV)/.checks  ## Mbed: errors of both modes, one gradient, many points, new points
	$(BIN)/python -m benchmarks.mbed.accuracy
	$(BIN)/python -m benchmarks.mbed.gradient
	$(BIN)/python -m benchmarks.mbed.scale
	$(BIN)/python -m benchmarks.mbed.new_points

separation: $(VENV)/.checks  ## Regions of many points; k-means with bounds beside k-means-constrained
	$(BIN)/python -m pip install --quiet --group constrained
	$(BIN)/python -m benchmarks.constrained
	$(BIN)/python -m benchmarks.separation.scale

partitions: $(VENV)/.checks  ## Rows in partitions: growth, pace of answering, rare classes, equal bytes after kills
	$(BIN)/python -m benchmarks.partitions.growth --millions 2 5 10 20 --beside 1000000
	$(BIN)/python -m benchmarks.partitions.apply
	$(BIN)/python -m benchmarks.partitions.mnist
	$(BIN)/python -m benchmarks.partitions.rare
	$(BIN)/python -m benchmarks.partitions.equality
	$(BIN)/python -m benchmarks.kept.held_out

door: $(VENV)/.checks  ## The front door: beside every method and peer, questions, reviews, maps, size
	$(BIN)/python -m pip install --quiet --group front-door
	$(BIN)/python -m benchmarks.front_door.accuracy
	$(BIN)/python -m benchmarks.front_door.queries
	$(BIN)/python -m benchmarks.front_door.reviews
	$(BIN)/python -m benchmarks.front_door.suspects
	$(BIN)/python -m benchmarks.front_door.layouts
	$(BIN)/python -m benchmarks.front_door.scale

trust: $(VENV)/.checks  ## What promises are worth on sets left out, beside peers, and in simulations
	$(BIN)/python -m pip install --quiet --group few-labels
	$(BIN)/python -m benchmarks.trust.answers
	$(BIN)/python -m benchmarks.trust.fit
	$(BIN)/python -m benchmarks.trust.peers
	$(BIN)/python -m benchmarks.trust.simulations

kills: $(VENV)/.checks  ## Commands killed at random moments: what they leave behind
	$(BIN)/python -m benchmarks.robustness.kills

figures: $(VENV)/.installed  ## Every table and figure of the papers; takes about two hours
	$(BIN)/beltrami reproduce all --out out/figures

release-check: $(MINIMUM)/.installed  ## Wheel and sdist built, installed on every Python that is here, and tried
	$(PYTHON) .ci/release.py

docs: $(VENV)/.installed  ## The book, its code run and its links checked, into out/docs
	$(BIN)/python -m pip install --quiet --group docs
	$(BIN)/python docs/_extensions/build_book.py

clean:  ## Remove what was built
	rm -rf $(VENV) $(MINIMUM) out .mypy_cache .ruff_cache .pytest_cache
