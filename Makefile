# make run and make test are all there is to know; each makes .venv from its lock when needed.

PYTHON ?= python3
BIN := bin
ifeq ($(OS),Windows_NT)
BIN := Scripts
endif
VENV := .venv/$(BIN)/

# Containers often set this, and every process would compile all libraries again.
unexport PYTHONDONTWRITEBYTECODE

# Parallel test workers share the cores already.
test exhaustive core rounding frameworks: export OPENBLAS_NUM_THREADS ?= 1

.PHONY: run test exhaustive versions check core rounding lint format types docs bench lock app-environment dev-environment frameworks frameworks-environment browser clean

run: app-environment
	@echo "Starting the application: the first time after an installation takes longer."
	$(VENV)python -m streamlit run app.py --server.fileWatcherType=auto

# worksteal gives each worker one stretch of the tests, so the browser tests, which come first and
# share a browser, stay in one until the others are done. It waits for its browser as often as it
# computes, so that there is room for two workers more than there are processors.
WORKERS = $(shell $(PYTHON) -c "import os; print((os.cpu_count() or 1) + 2)")
PYTEST = $(VENV)python -m pytest --dist worksteal
test: browser
	$(PYTEST) -n $(WORKERS) -m "not exhaustive"

# What `make test` leaves out.
exhaustive: browser
	$(PYTEST) -n $(WORKERS) -m exhaustive tests

# The oldest and the newest versions that requirements.txt allows.
versions: browser
	$(VENV)python -m tools.versions

# The adapters with the real torch, transformers, timm, jax, flax, keras and Lightning. Nothing is downloaded by the tests.
FRAMEWORKS := .venv-frameworks
frameworks: export HF_HUB_OFFLINE := 1
frameworks: export KERAS_BACKEND ?= jax
frameworks: frameworks-environment
	$(FRAMEWORKS)/$(BIN)/python -m pytest tests/frameworks --confcutdir=tests/frameworks -W default -W error:::normgeo

# For daily work: the whole library without its pages.
check: lint types core

PAGES := $(addprefix --ignore=tests/,browser pages pictures cli docs contributing test_packaging.py)
core: dev-environment
	$(PYTEST) -n auto -m "not exhaustive" $(PAGES)

# What computes with numbers that a processor rounds, in one process: `.ci/run` runs it under other
# kernels, side by side.
NO_NUMBERS := $(addprefix --ignore=tests/,any_arguments base datasets story workers) --ignore-glob=tests/test_*
rounding: dev-environment
	$(VENV)python -m pytest -m "not exhaustive" $(PAGES) $(NO_NUMBERS)

lint: dev-environment
	$(VENV)python -m ruff check .
	$(VENV)python -m ruff format --check .

format: dev-environment
	$(VENV)python -m ruff format .
	$(VENV)python -m ruff check --fix .

types: dev-environment
	$(VENV)python -m mypy normgeo tools $(wildcard app.py pages)

# Warnings are errors; the notebook runs. The pages are in docs/_build/html.
docs: dev-environment
	$(VENV)python -m sphinx -q -W --keep-going -b html docs docs/_build/html

bench: browser
	$(VENV)python -m benchmarks

# Exact versions with hashes for every platform. `make lock UPGRADE=--upgrade` takes newer ones. Needs uv.
COMPILE := uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header \
	--no-annotate --no-emit-index-url --no-emit-find-links $(UPGRADE)
lock:
	$(COMPILE) requirements.txt -o requirements.lock
	$(COMPILE) requirements.txt requirements-dev.in requirements-dask.in -c requirements.lock -o requirements-dev.lock
	# On Linux uv needs to be told of PyTorch's index of builds for the CPU (UV_FIND_LINKS or UV_INDEX).
	$(COMPILE) requirements-frameworks.in -c requirements.lock -o requirements-frameworks.lock

app-environment:
	@$(PYTHON) tools/venv.py requirements.lock

dev-environment:
	@$(PYTHON) tools/venv.py requirements-dev.lock

frameworks-environment:
	@$(PYTHON) tools/venv.py requirements-frameworks.lock $(FRAMEWORKS)

browser: dev-environment
	@$(VENV)python -m tools.browser

clean:
	rm -rf .venv $(FRAMEWORKS) docs/_build docs/api .pytest_cache .mypy_cache .ruff_cache .hypothesis
