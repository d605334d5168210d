# make setup | demo | test | lint | check | format | generate | bench | campaign | mentors | dd-mentors | universal-mentor | table6 | benchmark | results
# Everything below `setup` makes the .venv first. PYTHON names the interpreter that makes it.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.ready

.PHONY: setup programs demo test doctest lint check format generate bench bench-audit campaign mentors dd-mentors universal-mentor table6 benchmark results clean

# Everything that the tests need: the .venv, and the programs that pip cannot install.
setup: $(STAMP) programs

$(STAMP): pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt torch
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	touch $@

# A browser and `ip`. This never fails: tests that miss one of them are skipped, and say so.
programs: $(STAMP)
	$(BIN)/python -m tests.programs

demo: $(STAMP)
	$(BIN)/mentornet demo

# `make check test` runs the doctests once. Each process starts with half of the files, so that
# what the tests of a file share is made once; who is ready first takes over from the other.
test: setup doctest
	$(BIN)/python -m pytest --numprocesses 2 --dist worksteal tests

doctest: $(STAMP)
	$(BIN)/python -m pytest --numprocesses 2 --quiet src tools README.md docs

lint: $(STAMP)
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m tools.generate --check

check: lint doctest

format: $(STAMP)
	$(BIN)/ruff format
	$(BIN)/ruff check --fix

# The tables and lists that are made from the registries.
generate: $(STAMP)
	$(BIN)/python -m tools.generate

bench: $(STAMP)
	$(BIN)/python -m benchmarks.mentor_cost
	$(BIN)/python -m benchmarks.training_cost
	$(BIN)/python -m benchmarks.drop_in_cost
	$(BIN)/python -m benchmarks.view_cost
	$(BIN)/python -m benchmarks.sharing_cost
	$(BIN)/python -m benchmarks.many_samples

# The audit beside the tools that people use: about an hour; continues where it was stopped.
bench-audit: $(STAMP)
	$(BIN)/python -m benchmarks.audit_accuracy

# Hostile files, kills and faults of the disk: about 30 minutes; continues where it was stopped.
SEED ?= 0
campaign: $(STAMP)
	$(BIN)/python -m campaign --seed $(SEED)

# The mentors that ship read no label, so that they serve any number of classes.
PRETRAINED := src/mentornet/mentors/pretrained
STEPS := --steps 20000
prediction-variance := --history 10 --learning-rate 0.03

mentors: $(STAMP)
	for name in $$($(BIN)/python -c 'from mentornet import CURRICULA; print(*CURRICULA)'); do \
		$(MAKE) mentor-$$name || exit 1; done

mentor-%: $(STAMP)
	$(BIN)/mentornet fit-mentor --curriculum $* --features dense --no-use-label \
		--num-classes 1 $(STEPS) $($*) \
		--out $(PRETRAINED)/$* --overwrite

# From many runs on all our datasets; continues where it was stopped. MENTORNET_DATA must have
# CIFAR, the labels of CIFAR-N, and the texts of docs/real_noise.md; Fashion-MNIST is Debian's.
universal-mentor: $(STAMP)
	$(BIN)/python -m benchmarks.universal

# Those learned on CIFAR-10, about ten minutes each: one run, then a mentor from all its epochs.
dd-mentors: $(STAMP) dd-20 dd-40 dd-80

dd-%: $(STAMP)
	$(BIN)/mentornet train cifar10 --noise uniform:0.$(patsubst %0,%,$*) --clean-count 5000 \
		--width 16 --epochs 6 --method mentornet-dd --set burn_in=0.2 burn_in_drop=0.5 smoothing=0 sharpness=0 \
		decided_by=1 teaches_verified=false updates=0.21,0.4,0.6,0.8 --precision 32 --compile off \
		--channels-last on --out runs/dd-$*
	$(BIN)/mentornet learn-mentor --run-folder runs/dd-$* --out $(PRETRAINED)/dd-cifar10-$* --overwrite

table6: $(STAMP)
	$(BIN)/mentornet reproduce table6 --scale paper --out runs/table6

# Our own benchmark takes some hours on two cores, and continues where it was stopped. On a CPU
# without bf16, use PRECISION=32.
PRECISION ?= bf16
benchmark: $(STAMP)
	$(BIN)/python -m benchmarks.accuracy --precision $(PRECISION)

# docs/results.md from the stored results.
results: $(STAMP)
	$(BIN)/python -m benchmarks.results_page

clean:
	rm -rf $(VENV) runs
