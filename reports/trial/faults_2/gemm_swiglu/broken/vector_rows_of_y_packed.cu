// SPDX-License-Identifier: Apache-2.0
// FAULT: results are stored four at a time where ffn is a multiple of 4, in rows of ffn elements; only single stores go by the
// stride of y.
// Kind: layout
// Shows: a y with a gap between rows, ffn a multiple of 4, and more than one token.
#include "cuda/gemm_swiglu/broken/plain.cuh"

namespace assay::ROOM(gemm_swiglu, vector_rows_of_y_packed) {

template <class T>
__global__ void four_features(Operands<T> p, bool wide) {
  const std::int64_t token = blockIdx.x, f = (static_cast<std::int64_t>(blockIdx.y) * kPlainThreads + threadIdx.x) * 4;
  if (f >= p.ffn) return;
  const T* const x = p.x + token * p.x_stride;
  float gate[4] = {}, up[4] = {};
  for (std::int64_t h = 0; h < p.hidden; ++h) {
    const float v = to_float(ld(x + h));
#pragma unroll
    for (int j = 0; j < 4; ++j)
      if (f + j < p.ffn) {
        gate[j] = fmaf(v, to_float(ld(p.w_gate + (f + j) * p.gate_stride + h)), gate[j]);
        up[j] = fmaf(v, to_float(ld(p.w_up + (f + j) * p.up_stride + h)), up[j]);
      }
  }
  float out[4];
#pragma unroll
  for (int j = 0; j < 4; ++j) out[j] = silu(gate[j]) * up[j];
  if (wide) {
    st(reinterpret_cast<Vec<T, 4>*>(p.y + token * p.ffn + f), from_floats<T>(out));
    return;
  }
#pragma unroll
  for (int j = 0; j < 4; ++j)
    if (f + j < p.ffn) st(p.y + token * p.y_stride + f + j, from_float<T>(out[j]));
}

KERNEL(gemm_swiglu) = {.dtypes = kEveryType,
                       .tiles = {tile(Axis::tokens, 1), tile(Axis::ffn, 4 * kPlainThreads)},
                       .numerics = {.accumulate = f32, .chain = {.lanes = 1}}};

void run(const gemm_swiglu::Args& a, const Launch& l) {
  if (a.y.size() == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    const Operands<T> p = operands_of<T>(a);
    const bool wide = p.ffn % 4 == 0 && a.y.rows_aligned(4 * sizeof(T));
    launch(four_features<T>, {.grid = dim3(p.tokens, ceil_div(p.ffn, 4 * kPlainThreads)), .block = dim3(kPlainThreads)}, l.stream,
           p, wide);
  });
}

}  // namespace assay::ROOM(gemm_swiglu, vector_rows_of_y_packed)
