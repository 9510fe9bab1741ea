// SPDX-License-Identifier: Apache-2.0
// FAULT: (max + log sum) - x[target]: the sum is rounded beside a large maximum, and the difference shows it.
// Caught by: the bound on large_mean_1000 and shifted_rows.
#include "cuda/cross_entropy/broken/plain.cuh"

namespace assay::ROOM(cross_entropy, logarithm_beside_maximum) {

KERNEL(cross_entropy){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::tokens, kMeanThreads), tile(Axis::vocab, kPlainThreads)},
    .numerics = {.accumulate = f32,
                 .chain = {.lanes = kPlainThreads, .extra = 10},
                 .rescales = {.lanes = kPlainThreads, .extra = 10}},
};

template <class T>
struct Wrong : Plain<T> {
  __device__ static float loss(const fold::LogSumExp& seen, float x) { return seen.result() - x; }
};

void run(const cross_entropy::Args& a, const Launch& l) { run_plain<Wrong>(a, l); }

}  // namespace assay::ROOM(cross_entropy, logarithm_beside_maximum)
