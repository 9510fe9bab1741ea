// SPDX-License-Identifier: Apache-2.0
// FAULT: targets are kept in 16 bits. Right for a vocabulary of up to 65,536 entries.
// Caught by: the bound on last_class with a larger vocabulary.
#include "cuda/cross_entropy/broken/plain.cuh"

namespace assay::ROOM(cross_entropy, target_of_16_bits) {

KERNEL(cross_entropy){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::tokens, kMeanThreads), tile(Axis::vocab, kPlainThreads)},
    .numerics = {.accumulate = f32,
                 .chain = {.lanes = kPlainThreads, .extra = 10},
                 .rescales = {.lanes = kPlainThreads, .extra = 10}},
};

template <class T>
struct Wrong : Plain<T> {
  __device__ static std::int64_t target(const std::int32_t* targets, std::int64_t token) {
    return static_cast<std::uint16_t>(ld(targets + token));
  }
};

void run(const cross_entropy::Args& a, const Launch& l) { run_plain<Wrong>(a, l); }

}  // namespace assay::ROOM(cross_entropy, target_of_16_bits)
