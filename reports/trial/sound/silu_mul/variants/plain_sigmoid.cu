// SPDX-License-Identifier: Apache-2.0
// A row a block, two neighbours a thread; gate times 1 / (1 + exp(-gate)), without an absolute value: where exp overflows, the
// sigmoid is below 2^-126 and becomes zero.  The reciprocal and the product with it are one unit each.
#include "cuda/core/kernel.cuh"
#include "ops/silu_mul.hpp"

namespace assay::ROOM(silu_mul, plain_sigmoid) {

inline constexpr int kThreads = 96;

KERNEL(silu_mul){.dtypes = {f16, bf16, f32},
                 .tiles = {tile(Axis::rows, 1), tile(Axis::cols, 2 * kThreads)},
                 .numerics = {.accumulate = f32, .quotient_error = 2, .flushes_subnormals = true}};

__device__ inline float gated(float gate, float up) {
  // Note: -inf times the zero that its sigmoid is gives NaN, as in the formula.
  const float sigmoid = 1.0f / (1.0f + expf(-gate));
  return gate * sigmoid * up;
}

template <class T>
__global__ void silu_mul_plain_sigmoid(const T* gate, const T* up, T* y, std::int64_t cols, std::int64_t gate_stride,
                                       std::int64_t up_stride, std::int64_t y_stride) {
  const std::int64_t row = blockIdx.x;
  gate += row * gate_stride, up += row * up_stride, y += row * y_stride;
  for (std::int64_t c = 2 * static_cast<std::int64_t>(threadIdx.x); c < cols; c += 2 * kThreads) {
    const bool two = c + 1 < cols;
    const float g0 = to_float(ld(gate + c)), u0 = to_float(ld(up + c));
    const float g1 = two ? to_float(ld(gate + c + 1)) : 0.0f, u1 = two ? to_float(ld(up + c + 1)) : 0.0f;
    st(y + c, from_float<T>(gated(g0, u0)));
    if (two) st(y + c + 1, from_float<T>(gated(g1, u1)));
  }
}

void run(const silu_mul::Args& a, const Launch& l) {
  if (a.y.size() == 0) return;
  with_type(a.y.dtype, [&]<class T>(Type<T>) {
    launch(silu_mul_plain_sigmoid<T>, {.grid = dim3(a.y.shape[0]), .block = dim3(kThreads)}, l.stream, a.gate.as<T>(),
           a.up.as<T>(), a.y.as<T>(), a.y.shape[1], a.gate.stride[0], a.up.stride[0], a.y.stride[0]);
  });
}

}  // namespace assay::ROOM(silu_mul, plain_sigmoid)
