# SPDX-License-Identifier: Apache-2.0
# Wraps CMake for a fresh clone.
#   make validate   builds and judges every kernel over the first suite: on a GPU if there is one, else on simt; SUITE=smoke: over
#                   that suite
#   make check OP=softmax KERNEL=naive   after a change of a kernel: builds, then judges it over smoke and edges; under a minute;
#                   without KERNEL all kernels of the op.  In a fresh clone nothing is built of other ops, unless
#                   the op is made of them
#   make test       builds everything, the tests and the broken kernels, and runs the tests but those labelled push.  A test that
#                   has passed with the same bytes before is left out; CACHE=off: none is
#   make format     formats the tracked files: C++ and CUDA by clang-format, Python by black
#   make ledger     judges every kernel over smoke, and every broken one on its witness, and compares the verdicts with those of
#                   reports/ledger.tsv.gz; TRIALS="faults_1 sound": packed kernels of reports/trial too
#   make wheel      builds the command for machines without a compiler, with all but glibc within it, and its wheel for pip in dist/
#   make packages   the same, a tarball and a package for Debian (docs/python.md)
#   make install PREFIX=DIR   builds the command and the package for projects with kernels of their own, and installs both
# They install missing packages with apt as root, else they print the command to run.
MAKEFLAGS += --no-print-directory
SUITE ?= first
PREFIX ?= /usr/local
JOBS  ?= $(shell nproc)

.PHONY: validate check test format ledger full install wheel packages clean
.DEFAULT_GOAL := validate

# Note: all use one build folder, so `make test` reuses what `make validate` has built.  `make check` begins with its op alone, and
# adds others as they are asked for.
BUILT = $(wildcard build/CMakeCache.txt)
HAD   = $(if $(BUILT),$(shell sed -n 's/^ASSAY_ONLY:STRING=//p' build/CMakeCache.txt))
ONLY  = $(if $(BUILT),$(if $(HAD),'-DASSAY_ONLY=$(HAD);$(OP)'),-DASSAY_TESTS=OFF -DASSAY_ONLY=$(OP))
validate:
	@cmake/bootstrap.sh
	@cmake -S . -B build --log-level=WARNING -DASSAY_UNITY=ON -DASSAY_ONLY= $(if $(BUILT),,-DASSAY_TESTS=OFF)
	@cmake --build build -j $(JOBS) --target validate
	@build/bin/validate run --suite $(SUITE) --json build/validate.jsonl

check:
	@[ -f "ops/$(OP).hpp" ] || { echo "make check OP=softmax [KERNEL=naive]: judges one op, or one kernel of it; '$(OP)' is none (build/bin/validate list ops)" >&2; exit 2; }
	@cmake/bootstrap.sh
	@cmake -S . -B build --log-level=WARNING -DASSAY_UNITY=ON $(ONLY)
	@cmake --build build -j $(JOBS) --target validate
	@build/bin/validate run --op $(OP) $(if $(KERNEL),--kernel $(KERNEL)) --suite smoke --quiet
	@build/bin/validate run --op $(OP) $(if $(KERNEL),--kernel $(KERNEL)) --suite edges

test:
	@cmake/bootstrap.sh catch2 python3 python3-pytest libonnx-testdata clang-format-14 black
	@cmake -S . -B build --log-level=WARNING -DASSAY_UNITY=ON -DASSAY_ONLY= -DASSAY_TESTS=ON
	@cmake --build build -j $(JOBS)
	@$(if $(filter off,$(CACHE)),ASSAY_NO_CACHE=1) cmake/tests/run.sh build --output-on-failure --no-tests=error -j $(JOBS) -LE push

format:
	@cmake/bootstrap.sh clang-format-14 black
	@python3 cmake/tests/format.py --write

ledger:
	@cmake/bootstrap.sh catch2 python3
	@cmake -S . -B build --log-level=WARNING -DASSAY_UNITY=ON -DASSAY_ONLY= -DASSAY_TESTS=ON
	@cmake --build build -j $(JOBS) --target validate set_trial
	@cmake/ledger.sh build $(TRIALS)

full: validate
	@build/bin/validate run --suite full --json build/full.jsonl

install:
	@cmake/bootstrap.sh
	@cmake -S . -B build --log-level=WARNING -DASSAY_UNITY=ON -DASSAY_ONLY= $(if $(BUILT),,-DASSAY_TESTS=OFF)
	@cmake --build build -j $(JOBS) --target validate assay_worker
	@cmake --install build --prefix "$(PREFIX)"

wheel:
	@cmake/bootstrap.sh python3 python3-pip
	@cmake -G "Unix Makefiles" -S . -B build-portable --log-level=WARNING -DASSAY_UNITY=ON -DASSAY_PORTABLE=ON -DASSAY_TESTS=OFF -DASSAY_CUDA=OFF
	@cmake --build build-portable -j $(JOBS) --target validate
	@cmake/wheel.sh build-portable dist

packages: wheel
	@cmake/bootstrap.sh dpkg-dev file
	@cpack --config build-portable/CPackConfig.cmake -B build-portable/packages
	@cp build-portable/packages/*.tar.gz build-portable/packages/*.deb dist/

clean:
	rm -rf build build-portable
