// SPDX-License-Identifier: Apache-2.0
// FAULT: -log of p[target] = exp(x - max) / sum, which is inf where p is a zero in f32: from a loss of 104 on.
// Caught by: the class of the result on probe_far, spread_200 and one_outlier.
#include "cuda/cross_entropy/broken/plain.cuh"

namespace assay::ROOM(cross_entropy, logarithm_of_probability) {

KERNEL(cross_entropy){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::tokens, kMeanThreads), tile(Axis::vocab, kPlainThreads)},
    .numerics = {.accumulate = f32,
                 .chain = {.lanes = kPlainThreads, .extra = 10},
                 .rescales = {.lanes = kPlainThreads, .extra = 10}},
};

template <class T>
struct Wrong : Plain<T> {
  __device__ static float loss(const fold::LogSumExp& seen, float x) { return -logf(expf(x - seen.max) / seen.sum); }
};

void run(const cross_entropy::Args& a, const Launch& l) { run_plain<Wrong>(a, l); }

}  // namespace assay::ROOM(cross_entropy, logarithm_of_probability)
