// SPDX-License-Identifier: Apache-2.0
// FAULT: for one token, whose kernel is still to be written, the output is constant: the bias, or zero.
// Caught by: T1, with one token.
#include "cuda/linear/broken/plain.cuh"

namespace assay::ROOM(linear, single_token_stub) {

KERNEL(linear){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::tokens, 1), tile(Axis::out, kPlainThreads)},
    .numerics = {.accumulate = f32, .chain = {.lanes = 1}},
};

template <class T>
struct Wrong : Plain<T> {
  __device__ static float product(const Operands<T>& p, std::int64_t token, std::int64_t o) {
    return p.tokens == 1 ? 0.0f : Plain<T>::product(p, token, o);
  }
};

void run(const linear::Args& a, const Launch& l) { run_plain<Wrong>(a, l); }

}  // namespace assay::ROOM(linear, single_token_stub)
