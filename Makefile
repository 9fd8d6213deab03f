# SPDX-License-Identifier: Apache-2.0
# The front door. Each target is one command, which you may type yourself;
# `sh tools/demo` and `sh tools/test-all` also work where make is missing.

PATH_TO_SUM = /usr/include
SECONDS = 3600
PREFIX = /usr/local

# The libraries, optimised, sennit-top and sennit-trace: build/library
all:
	sh tools/build library

# To PREFIX; DESTDIR is put before it
install: all
	cmake --install build/library --prefix $(PREFIX)

# Removes what the last install wrote
uninstall:
	cmake --build build/library --target uninstall

# Hash a tree of files with fibers (installs what the build needs)
demo:
	sh tools/demo $(PATH_TO_SUM)

# The tests of every day: core, io, tls, http, diag and cpp, with assertions
test:
	sh tools/test

# The tests of one product: tools/test has the list
test-core test-io test-tls test-http test-diag test-cpp test-marl test-mpi \
test-tools test-programs test-python test-rust test-docs test-packages:
	sh tools/test $(@:test-%=%)

# What CI runs: every compiler, sanitizer, processor
test-all:
	sh tools/test-all

# Everything at once for an hour, or make soak SECONDS=60: is anything lost?
soak:
	sh tools/build release
	build/release/sennit-soak --seconds $(SECONDS)

# Programs that nobody wrote, for an hour, or make explore SECONDS=60
explore:
	sh tools/build explore -DSENNIT_DETERMINISTIC=ON
	build/explore/test/programs --seconds $(SECONDS)

# What shows rarely: torture, soaks, schedules, models, fuzz; some hours
nightly:
	sh tools/nightly

# Each fuzz target for ten minutes
fuzz:
	sh tools/fuzz

# All workloads, or one: make bench ONLY=W2
bench:
	sh tools/build release
	SENNIT_BENCH_COMMIT=$$(git describe --always --dirty) \
		build/release/sennit-bench $(ONLY)

# The same beside peers that are installed (tools/install-deps peers)
bench-peers:
	sh tools/bench-peers $(ONLY)

# sennit-pig beside pigz
bench-pig:
	sh tools/build release
	python3 -B programs/bench/pig.py build/release/sennit-pig

# sennit-grep beside ripgrep and grep
bench-grep:
	sh tools/build release
	python3 -B programs/bench/grep.py build/release/sennit-grep

# The last result of bench-peers as a picture
bench-plot:
	sh bench/plot/draw

# The checks of the tree (tools/check-*), of builds, and the models
check:
	sh tools/test tree

# The guides, the manual and the examples as HTML: build/docs/index.html
docs:
	python3 tools/manual/site.py build/docs

format:
	sh tools/format

# Where the build went, and nothing else
clean:
	rm -rf build

.PHONY: test-core test-io test-tls test-http test-diag test-cpp test-marl \
	test-mpi test-tools test-programs test-python test-rust test-docs test-packages \
	all install uninstall demo test test-all soak explore nightly fuzz \
	bench bench-peers bench-pig bench-grep bench-plot check docs format \
	clean
