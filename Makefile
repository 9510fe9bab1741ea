# SPDX-License-Identifier: Apache-2.0
# A thin front over CMake, for a person who has just cloned this.
#   make validate   builds and judges every kernel over the smoke suite: on the GPU where there is one, else on simt
#   make test       builds everything, the tests and the broken kernels, and runs ctest
# Both install what is missing through apt when they may, and otherwise print the line that does.
MAKEFLAGS += --no-print-directory
SUITE ?= smoke
JOBS  ?= $(shell nproc)

.PHONY: validate test full clean
.DEFAULT_GOAL := validate

# Note: one folder for both; what `make validate` has built, `make test` builds no second time.
validate:
	@cmake/bootstrap.sh
	@cmake -S . -B build --log-level=WARNING -DASSAY_UNITY=ON $(if $(wildcard build/CMakeCache.txt),,-DASSAY_TESTS=OFF)
	@cmake --build build -j $(JOBS) --target validate
	@build/bin/validate run --suite $(SUITE) --json build/validate.jsonl

test:
	@cmake/bootstrap.sh catch2 libonnx-testdata
	@cmake -S . -B build --log-level=WARNING -DASSAY_UNITY=ON -DASSAY_TESTS=ON
	@cmake --build build -j $(JOBS)
	@ctest --test-dir build --output-on-failure --no-tests=error -j $(JOBS)

full: validate
	@build/bin/validate run --suite full --json build/full.jsonl

clean:
	rm -rf build
