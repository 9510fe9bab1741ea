// SPDX-License-Identifier: Apache-2.0
// FAULT: the compensated (Kahan) sum of a thread adds what the last addition lost with the wrong sign, so its error doubles;
// only the roundings of a compensated sum are declared.
// Kind: precision
// Shows: sum of a long row.
#include "cuda/core/fold.cuh"
#include "cuda/core/kernel.cuh"
#include "ops/row_reduce.hpp"

namespace assay::ROOM(row_reduce, compensation_added) {

inline constexpr int kThreads = 64;

// The sum and what it has lost.
struct Kahan : fold::Sum {
  float lost = 0;
  template <int N>
  __device__ void add(const float (&v)[N]) {
#pragma unroll
    for (int j = 0; j < N; ++j) {
      const float x = v[j] + lost, next = value + x;
      lost = fabsf(next) < INFINITY ? (next - value) - x : 0.0f;
      value = next;
    }
  }
};

template <class Fold, class T>
__device__ float reduced(const T* x, std::int64_t cols) {
  Fold f;
  for (std::int64_t c = 0; c < cols; ++c) {
    const float v[1] = {to_float(ld(x + c))};
    f.add(v);
  }
  return f.result();
}

template <class T>
__global__ void row_reduce_compensated(const T* x, float* y, std::int64_t rows, std::int64_t cols, std::int64_t stride) {
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (row < rows) st(y + row, reduced<Kahan>(x + row * stride, cols));
}

Legality sums_only(const row_reduce::Args& a) {
  return a.what == Reduction::sum ? Legality::yes() : Legality::no("only sums are compensated");
}

// A compensated sum is off by 2 u sum |x|, and u^2 cols more: three roundings.
KERNEL(row_reduce){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::rows, kThreads)},
    .numerics = {.accumulate = f32, .chain = {.lanes = std::int64_t{1} << 40, .extra = 2}},
    .supports = sums_only,
};

void run(const row_reduce::Args& a, const Launch& l) {
  const std::int64_t rows = a.x.shape[0];
  if (rows == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(row_reduce_compensated<T>, {.grid = dim3(ceil_div(rows, kThreads)), .block = dim3(kThreads)}, l.stream, a.x.as<T>(),
           a.y.as<float>(), rows, a.x.shape[1], a.x.stride[0]);
  });
}

}  // namespace assay::ROOM(row_reduce, compensation_added)
