// SPDX-License-Identifier: Apache-2.0
// FAULT: the sums of the warps are joined by shuffles that reach over one warp only: what the other warps have is lost.
// Right for up to 32 columns.
// Caught by: the bound on any longer row.
#include "cuda/row_reduce/broken/plain.cuh"

namespace assay::ROOM(row_reduce, first_warp_only) {

KERNEL(row_reduce){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::rows, 1), tile(Axis::cols, kPlainThreads)},
    .numerics = {.accumulate = f32,
                 .chain = {.lanes = kPlainThreads, .extra = 10},
                 .rescales = {.lanes = kPlainThreads, .extra = 10}},
};

template <class T>
struct Wrong : Plain<T> {
  template <class Fold>
  __device__ static Fold join(const Fold& f) {
    return fold::join_warp(f);
  }
};

void run(const row_reduce::Args& a, const Launch& l) { run_plain<Wrong>(a, l); }

}  // namespace assay::ROOM(row_reduce, first_warp_only)
