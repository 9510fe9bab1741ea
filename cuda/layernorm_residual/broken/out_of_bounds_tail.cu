// SPDX-License-Identifier: Apache-2.0
// FAULT: the output goes in packs of four, and the last pack of a row is read and written whole: up to three elements beyond
// the row.
// Caught by: the guards (and out_of_bounds on simt), any fill with cols % 4 != 0 in a layout whose rows are aligned.
#include "cuda/core/kernel.cuh"
#include "cuda/core/reduce.cuh"
#include "ops/layernorm_residual.hpp"

namespace assay::ROOM(layernorm_residual, out_of_bounds_tail) {

inline constexpr int kThreads = 128;

Legality supports(const layernorm_residual::Args& a) {
  const int access = 4 * size_of(a.x.dtype);
  for (const Tensor* t : {&a.x, &a.residual, &a.gamma, &a.beta, &a.y})
    if (!t->rows_aligned(access)) return Legality::no("rows must start at a multiple of four elements");
  return Legality::yes();
}

KERNEL(layernorm_residual){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::rows, 1), tile(Axis::cols, kThreads)},
    .numerics = {.accumulate = f32, .chain = {.lanes = kThreads, .extra = 10}},
    .supports = supports,
};

template <class T>
__global__ void out_of_bounds_tail(const T* x, const T* residual, const T* gamma, const T* beta, T* y, std::int64_t cols,
                                   std::int64_t x_stride, std::int64_t residual_stride, std::int64_t y_stride, float epsilon) {
  const std::int64_t row = blockIdx.x;
  x += row * x_stride, residual += row * residual_stride, y += row * y_stride;
  float* const partial = shared_memory<float>();

  float sum = 0;
  for (std::int64_t c = threadIdx.x; c < cols; c += kThreads) sum += to_float(ld(x + c));
  const float mean = block_sum(sum, partial) / static_cast<float>(cols);

  float squares = 0;
  for (std::int64_t c = threadIdx.x; c < cols; c += kThreads) {
    const float d = to_float(ld(x + c)) - mean;
    squares = fmaf(d, d, squares);
  }
  const float r = 1.0f / sqrtf(block_sum(squares, partial) / static_cast<float>(cols) + epsilon);

  using Pack = Vec<T, 4>;
  for (std::int64_t c = 4 * threadIdx.x; c < cols; c += 4 * kThreads) {
    const Pack in = ld(reinterpret_cast<const Pack*>(x + c)), add = ld(reinterpret_cast<const Pack*>(residual + c));
    const Pack scale = ld(reinterpret_cast<const Pack*>(gamma + c)), shift = ld(reinterpret_cast<const Pack*>(beta + c));
    Pack out;
    for (int i = 0; i < 4; ++i) {
      const float normalised = fmaf((to_float(in[i]) - mean) * r, to_float(scale[i]), to_float(shift[i]));
      out[i] = from_float<T>(normalised + to_float(add[i]));
    }
    st(reinterpret_cast<Pack*>(y + c), out);
  }
}

void run(const layernorm_residual::Args& a, const Launch& l) {
  const std::int64_t rows = a.x.shape[0], cols = a.x.shape[1];
  if (rows == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(out_of_bounds_tail<T>, {.grid = dim3(rows), .block = dim3(kThreads), .shared_bytes = kWarp * sizeof(float)}, l.stream,
           a.x.as<T>(), a.residual.as<T>(), a.gamma.as<T>(), a.beta.as<T>(), a.y.as<T>(), cols, a.x.stride[0],
           a.residual.stride[0], a.y.stride[0], static_cast<float>(a.epsilon));
  });
}

}  // namespace assay::ROOM(layernorm_residual, out_of_bounds_tail)
