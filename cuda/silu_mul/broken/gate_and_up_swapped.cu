// SPDX-License-Identifier: Apache-2.0
// FAULT: silu of up times gate in the columns after the last whole 16 bytes: the tail's arguments are in the wrong order.
// Caught by: the exact probe probe_gates; the bound on any random input.
#include "cuda/silu_mul/broken/plain.cuh"

namespace assay::ROOM(silu_mul, gate_and_up_swapped) {

template <class T>
struct Wrong : Plain<T> {
  __device__ static float value(float g, float u, std::int64_t col, std::int64_t cols) {
    constexpr std::int64_t kPack = 16 / sizeof(T);
    const bool tail = col >= cols / kPack * kPack;
    return tail ? silu(u) * g : silu(g) * u;
  }
};
KERNEL_FROM(silu_mul, plain, Wrong);

}  // namespace assay::ROOM(silu_mul, gate_and_up_swapped)
