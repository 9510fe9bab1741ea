#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the tile benchmark (tiles.cpp).  Takes about a minute; warns of tiles that spill registers, which
# are candidates all the same.
#   build.sh OUT           makes the program OUT; CUDACXX names another nvcc
set -euo pipefail
[ $# -eq 1 ] || { echo "build.sh takes the name of the program to make: build.sh OUT" >&2; exit 2; }
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
"${CUDACXX:-nvcc}" -std=c++20 -O3 -gencode arch=compute_90a,code=sm_90a --expt-relaxed-constexpr -Xptxas=-warn-spills \
  -Xcompiler=-Wall -I"$here/../.." "$here"/{tiles.cpp,linear.cu,gelu.cu,swiglu.cu,fill.cu} -lcublasLt -o "$1"
