# SPDX-License-Identifier: Apache-2.0
# Wraps CMake for a fresh clone.
#   make validate   builds and judges every kernel over the smoke suite: on a GPU if there is one, else on simt
#   make check OP=softmax KERNEL=naive   after a change of a kernel: builds, then judges it over smoke and edges; under a minute;
#                   without KERNEL all kernels of the op
#   make test       builds everything, the tests and the broken kernels, and runs ctest
#   make install PREFIX=DIR   builds the command and the package for projects with kernels of their own, and installs both
# They install missing packages with apt as root, else they print the command to run.
MAKEFLAGS += --no-print-directory
SUITE ?= smoke
PREFIX ?= /usr/local
JOBS  ?= $(shell nproc)

.PHONY: validate check test full install clean
.DEFAULT_GOAL := validate

# Note: both use one build folder, so `make test` reuses what `make validate` has built.
validate:
	@cmake/bootstrap.sh
	@cmake -S . -B build --log-level=WARNING -DASSAY_UNITY=ON $(if $(wildcard build/CMakeCache.txt),,-DASSAY_TESTS=OFF)
	@cmake --build build -j $(JOBS) --target validate
	@build/bin/validate run --suite $(SUITE) --json build/validate.jsonl

check:
	@[ -f "ops/$(OP).hpp" ] || { echo "make check OP=softmax [KERNEL=naive]: judges one op, or one kernel of it; '$(OP)' is none (build/bin/validate list ops)" >&2; exit 2; }
	@cmake/bootstrap.sh
	@cmake -S . -B build --log-level=WARNING -DASSAY_UNITY=ON $(if $(wildcard build/CMakeCache.txt),,-DASSAY_TESTS=OFF)
	@cmake --build build -j $(JOBS) --target validate
	@build/bin/validate run --op $(OP) $(if $(KERNEL),--kernel $(KERNEL)) --suite smoke --quiet
	@build/bin/validate run --op $(OP) $(if $(KERNEL),--kernel $(KERNEL)) --suite edges

test:
	@cmake/bootstrap.sh catch2 libonnx-testdata
	@cmake -S . -B build --log-level=WARNING -DASSAY_UNITY=ON -DASSAY_TESTS=ON
	@cmake --build build -j $(JOBS)
	@ctest --test-dir build --output-on-failure --no-tests=error -j $(JOBS)

full: validate
	@build/bin/validate run --suite full --json build/full.jsonl

install:
	@cmake/bootstrap.sh
	@cmake -S . -B build --log-level=WARNING -DASSAY_UNITY=ON $(if $(wildcard build/CMakeCache.txt),,-DASSAY_TESTS=OFF)
	@cmake --build build -j $(JOBS) --target validate assay_worker
	@cmake --install build --prefix "$(PREFIX)"

clean:
	rm -rf build
