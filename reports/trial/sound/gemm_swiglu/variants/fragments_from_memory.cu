// SPDX-License-Identifier: Apache-2.0
// A tile of 16 tokens by 8 features a warp, gate and up by tensor cores, 16 channels a step, fragments gathered from global
// memory.
// silu without a division: exp2 of the exponent times log2(e) (two roundings), a reciprocal within 1.2 units and a product.
#include "cuda/core/activation.cuh"
#include "cuda/core/kernel.cuh"
#include "ops/gemm_swiglu.hpp"

namespace assay::ROOM(gemm_swiglu, fragments_from_memory) {

inline constexpr int kM = 16, kN = 8, kK = 16;

KERNEL(gemm_swiglu){
    .dtypes = {f16, bf16},
    .min_arch = 80,
    .tiles = {tile(Axis::tokens, kM), tile(Axis::ffn, kN), tile(Axis::hidden, kK)},
    .numerics = {.accumulate = f32,
                 .mma_terms = 8,
                 .exponent_error = kFastSiluExponentError,
                 .quotient_error = kFastQuotientError,
                 .flushes_subnormals = true},
};

template <class T>
struct Problem {
  const T *x, *w_gate, *w_up;
  T* y;
  std::int64_t tokens, hidden, ffn, across, x_stride, gate_stride, up_stride, y_stride;
  // Columns k and k + 1 of a row, zero beyond the end.
  __device__ unsigned pair(const T* row, bool inside, std::int64_t k) const {
    const float low = inside && k < hidden ? to_float(ld(row + k)) : 0.0f;
    const float high = inside && k + 1 < hidden ? to_float(ld(row + k + 1)) : 0.0f;
    return pack<T>(low, high);
  }
};

template <class T>
__global__ void gemm_swiglu_fragments_from_memory(Problem<T> p) {
  const int g = lane_id() / 4, t = lane_id() % 4;
  const std::int64_t token = blockIdx.x / p.across * kM + g, first_f = blockIdx.x % p.across * kN, f = first_f + g;
  const T* const low = p.x + token * p.x_stride;
  const T* const high = low + 8 * p.x_stride;
  const bool low_inside = token < p.tokens, high_inside = token + 8 < p.tokens, inside = f < p.ffn;
  float gate[4] = {}, up[4] = {};
  for (std::int64_t first = 0; first < p.hidden; first += kK) {
    const std::int64_t k = first + 2 * t;
    const unsigned a[4] = {p.pair(low, low_inside, k), p.pair(high, high_inside, k), p.pair(low, low_inside, k + 8),
                           p.pair(high, high_inside, k + 8)};
    const T* const w_gate = p.w_gate + f * p.gate_stride;
    const T* const w_up = p.w_up + f * p.up_stride;
    const unsigned of_gate[2] = {p.pair(w_gate, inside, k), p.pair(w_gate, inside, k + 8)};
    const unsigned of_up[2] = {p.pair(w_up, inside, k), p.pair(w_up, inside, k + 8)};
    mma_m16n8k16<T>(gate, a, of_gate);
    mma_m16n8k16<T>(up, a, of_up);
  }
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const std::int64_t row = token + 8 * (i / 2), column = first_f + 2 * t + i % 2;
    if (row < p.tokens && column < p.ffn) st(p.y + row * p.y_stride + column, from_float<T>(silu_fast(gate[i]) * up[i]));
  }
}

void run(const gemm_swiglu::Args& a, const Launch& l) {
  const std::int64_t tokens = a.y.shape[0], ffn = a.y.shape[1], across = ceil_div(ffn, kN);
  if (tokens * ffn == 0) return;
  with_half_type(a.x.dtype, [&]<class T>(Type<T>) {
    const Problem<T> p{a.x.as<T>(), a.w_gate.as<T>(), a.w_up.as<T>(), a.y.as<T>(), tokens, a.x.shape[1], ffn, across,
                       a.x.stride[0], a.w_gate.stride[0], a.w_up.stride[0], a.y.stride[0]};
    launch(gemm_swiglu_fragments_from_memory<T>, {.grid = dim3(across * ceil_div(tokens, kM)), .block = dim3(kWarp)}, l.stream,
           p);
  });
}

}  // namespace assay::ROOM(gemm_swiglu, fragments_from_memory)
