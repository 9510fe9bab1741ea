// SPDX-License-Identifier: Apache-2.0
// FAULT: channels beyond the last multiple of 8 are not added.
// Caught by: the bound and the exact probes, where hidden is no multiple of 8.
#include "cuda/linear/broken/plain.cuh"

namespace assay::ROOM(linear, dropped_channels) {

KERNEL(linear){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::tokens, 1), tile(Axis::out, kPlainThreads)},
    .numerics = {.accumulate = f32, .chain = {.lanes = 1}},
};

template <class T>
struct Wrong : Plain<T> {
  __device__ static float product(Operands<T> p, std::int64_t token, std::int64_t o) {
    p.hidden = p.hidden / 8 * 8;
    return Plain<T>::product(p, token, o);
  }
};

void run(const linear::Args& a, const Launch& l) { run_plain<Wrong>(a, l); }

}  // namespace assay::ROOM(linear, dropped_channels)
