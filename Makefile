# make demo   set everything up and show the idea in a minute
# make test   set everything up and run all tests
# make check  what CI runs: tests, doc examples, ruff, mypy --strict, which room imports which
# make test-pythons                what depends on Python's version, on 3.12 and 3.13 where they are installed
# make mutants [SAMPLE=200]        faults put into the pure modules, and how many of them the tests notice
# make soak   what takes too long for every day, before a release
# make bench  the benchmarks, minutes each (see bench/)
# make bench-users                 what users do: days of a list, kinds of combiners, whole commands (hours)
# make evaluation [SIZE=large]     the Incoop paper's evaluation: docs/evaluation.md
# make bench-kernels               the small, hot functions
# make bench-compare BASE=HEAD~3   the same on two commits

VENV ?= .venv
# Test processes side by side: each has a Spark of its own.
JOBS ?= 2
BIN := $(VENV)/bin

.PHONY: setup demo test test-pythons mutants soak check doctest lint bench bench-users bench-kernels bench-compare evaluation clean

setup: $(VENV)/ready

$(VENV)/ready: pyproject.toml scripts/prerequisites.sh scripts/compile_imports.py
	@python=$$(PYTHON='$(PYTHON)' sh scripts/prerequisites.sh) && \
	echo "Setting up $(VENV) with $$python; the first time takes a minute or two ..." && \
	{ test -x $(BIN)/python || "$$python" -m venv $(VENV); } && \
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile --editable '.[dev]'
	@$(BIN)/python scripts/compile_imports.py
	@touch $@

demo: setup
	@$(BIN)/incoop demo

# What every JVM of the tests starts with: it pays for itself at the twelfth. Tests run without it, too.
$(VENV)/spark-classes.jsa: $(VENV)/ready scripts/share_classes.py
	-$(BIN)/python scripts/share_classes.py $@

test: setup $(VENV)/spark-classes.jsa
	@sh scripts/test_programs.sh
	@$(BIN)/python scripts/compile_imports.py --own
	$(BIN)/python -m pytest -n $(JOBS) --dist loadfile --no-loadscope-reorder -m 'not endurance'

test-pythons: setup
	VENV=$(VENV) JOBS=$(JOBS) sh scripts/test_pythons.sh 3.12 3.13

SAMPLE ?= 200
mutants: setup
	$(BIN)/python scripts/mutants.py --sample $(SAMPLE)

soak: mutants
	$(BIN)/python -m pytest -m endurance

check: test test-pythons doctest lint

doctest: setup
	$(BIN)/python -m pytest --doctest-modules incoop

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

bench: setup
	$(BIN)/python -m bench.bench_chunk
	$(BIN)/python -m bench.bench_memo
	$(BIN)/python -m bench.bench_placement
	$(BIN)/python -m bench.bench_scheduler
	$(BIN)/python -m bench.bench_straggler

bench-users: setup
	$(BIN)/python -m bench.bench_days
	$(BIN)/python -m bench.bench_days --data made --size 64M,512M
	$(BIN)/python -m bench.bench_combiners
	$(BIN)/python -m bench.bench_commands
	$(BIN)/python -m bench.bench_logs

bench-kernels: setup
	$(BIN)/python -m pytest bench/kernels -o python_files='bench_*.py' -o addopts= -q --benchmark-columns=median,min,max,rounds

BASE ?= HEAD~1
bench-compare: setup
	$(BIN)/python -m bench.compare $(BASE)

SIZE ?= large
evaluation: setup
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[bench]'
	$(BIN)/python -m bench paper --size $(SIZE) --resume

clean:
	rm -rf $(VENV) .venv-* build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
