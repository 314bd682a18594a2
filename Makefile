# Each target makes .venv and installs on its own; nothing needs to be set up before.
#   make book   execute the notebooks and build the site        make test   check everything
.DEFAULT_GOAL := help
SHELL := bash

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin

# One BLAS thread and a fixed hash seed: the same digits on every machine.
export OMP_NUM_THREADS := 1
export OPENBLAS_NUM_THREADS := 1
export PYTHONHASHSEED := 0
export MPLBACKEND := agg
# Else each kernel and each process of a test would compile pandas and scikit-learn anew: three seconds.
unexport PYTHONDONTWRITEBYTECODE
PYTEST := $(BIN)/python -m pytest

.PHONY: help install execute book html site-python pdf article test lint unit pages notebooks kernels browser reproduce verify reliability mutants record-check audit data bench bench-shifts lock clean

help:  ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 14

install:  ## make .venv and install the locked requirements (PYTHON=python3.12 for another Python)
	@.ci/environment $(PYTHON) $(VENV) $(if $(filter file,$(origin PYTHON)),,asked)

book: execute html  ## execute the notebooks, then build the site

execute: install  ## execute the notebooks in place, two at a time
	@ls notebooks | sed -n 's/[.]ipynb$$//p' | xargs -n 1 -P 2 $(BIN)/ddr-book execute

html: install  ## build the site from the executed notebooks
	$(BIN)/python -m companion.kit.build

site-python: install  ## fetch Python for the pages (needs network, 110 MB); the next `make html` takes it along
	$(BIN)/python -m companion.kit.site_python

pdf: html  ## print the whole book into _build/book.pdf (needs Chromium)
	$(BIN)/python -m companion.kit.pdf

article: html  ## print the replication, six pages, into _build/article.pdf (needs Chromium)
	$(BIN)/python -m companion.kit.pdf article

test: lint unit html notebooks pages  ## everything that CI checks

# Building the site keeps one core busy for minutes: the tests that need no site run beside it.
ifneq ($(filter test,$(MAKECMDGOALS)),)
MAKEFLAGS += --jobs=2
notebooks: html unit
pages: notebooks
endif
# With -j nothing may read what another target is still writing.
ifneq ($(filter book,$(MAKECMDGOALS)),)
html notebooks unit: execute
endif

lint: install  ## style, and the layers of the house
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports

unit: install  ## unit tests and doctests, with coverage of ddr
	$(PYTEST) -q -n 2 --dist worksteal -m "not weekly" --ignore=tests/book --cov --cov-report=term:skip-covered --cov-fail-under=95

pages: install  ## tests of the built site, in Chromium, and of the notebooks' form
	$(PYTEST) -q -n 2 --dist worksteal -m "not weekly" tests/book

notebooks: install  ## execute the notebooks again and compare every output
	@if ls notebooks/*.ipynb >/dev/null 2>&1; then \
	  $(PYTEST) -q --nbval --nbval-current-env -n 2 --dist loadscope notebooks ; \
	else echo "no notebook is published yet" ; fi

# OpenBLAS picks its kernel by the processor; here it is told to take others, with one and two threads.
# SkylakeX dies by an illegal instruction where the processor has no AVX-512.
NOTEBOOKS ?= notebooks
kernels: install  ## compare the notebooks under other BLAS kernels (NOTEBOOKS=file for one)
	@cores="Haswell Sandybridge Nehalem"; \
	if grep -qs avx512f /proc/cpuinfo; then cores="$$cores SkylakeX"; fi; \
	for core in $$cores; do for threads in 1 2; do \
	  setting="OPENBLAS_CORETYPE=$$core OPENBLAS_NUM_THREADS=$$threads OMP_NUM_THREADS=$$threads"; \
	  echo "== $$setting"; \
	  env $$setting $(PYTEST) -q -x --nbval --nbval-current-env $(NOTEBOOKS) \
	    || { echo "The notebooks differ under $$setting" >&2; exit 1; }; \
	done; done

browser: install  ## only the built site in Chromium
	$(PYTEST) -q -m browser tests

# Runs that an earlier call left in _build/reproduction are taken up again, so that an interruption
# costs nothing; it says how many.
reproduce: install  ## compute every experiment again, or the rest of it
	$(BIN)/ddr-book reproduce $(ARGS)

verify: html  ## compute one run of everything that is published again; the tests that take minutes
	$(BIN)/ddr-book verify --all
	$(PYTEST) -q -n 2 --dist worksteal -m weekly

reliability: html  ## try to break everything, and write what held for the book's page
	$(PYTEST) -q -n 2 --dist worksteal -m hardening --record=book/reliability.json

# An interrupted count goes on; ARGS="--minutes 25 ddr/kde.py" for one module, --again for what was not noticed.
mutants: install  ## make small faults on purpose, count those that tests notice (needs network)
	nice -n 10 $(BIN)/uv run --quiet --no-project --with cosmic-ray==8.7.0 python .ci/mutants.py $(ARGS)

record-check: html  ## validate the replication record against the profiles it names (fetches the validator)
	$(BIN)/uv run --quiet --no-project --with roc-validator==0.13.0 --with requests-mock python .ci/record_check.py

audit: install  ## known vulnerabilities of the locked versions (needs network)
	$(BIN)/pip-audit --disable-pip --require-hashes -r requirements.lock

data: install  ## build the bundled data again from their sources and compare (needs network)
	$(BIN)/python .ci/rebuild_data.py $(ARGS)

# uv installs the other packages into an environment of its own; the list is at the top of the script.
bench: install  ## time, memory and error beside other packages (ARGS="--against COMMIT": beside ours of then)
	$(BIN)/uv run --quiet --no-project benchmarks/speed.py $(ARGS)

.venv-bench: install
	$(BIN)/uv venv --quiet --allow-existing .venv-bench
	$(BIN)/uv pip install --quiet --no-deps --python .venv-bench -r benchmarks/requirements.txt

bench-shifts: .venv-bench  ## natural shifts beside other packages, and the guard's limits
	.venv-bench/bin/python -m benchmarks.natural_measure _build/natural
	.venv-bench/bin/python -m benchmarks.natural _build/natural
	$(BIN)/python -m companion.evidence.shifts

# Keeps the versions that are locked; `make lock ARGS=--upgrade` takes the newest.
lock: install  ## resolve requirements.txt into requirements.lock, with hashes
	$(BIN)/uv pip compile --quiet --universal --no-strip-extras --no-header --no-annotate --generate-hashes \
	  --python-version 3.11 $(ARGS) requirements.txt -o requirements.lock

clean:  ## remove what was built, and the environment
	rm -rf _build artifacts .pytest_cache .ruff_cache .hypothesis .coverage $(VENV)
