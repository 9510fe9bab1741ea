// SPDX-License-Identifier: Apache-2.0
// FAULT: the squares of a row are summed relative to a power of two near its largest magnitude, so that they cannot overflow on
// the way; a row of zeros is divided by zero.
// Kind: ranges
// Shows: sum_of_squares of a row of zeros: NaN.
#include "cuda/core/reduce.cuh"
#include "cuda/row_reduce/broken/plain.cuh"

namespace assay::ROOM(row_reduce, squares_relative_to_maximum) {

template <class T, class F>
__device__ float scaled_squares(const T* x, std::int64_t cols, float* scratch) {
  float most = 0;
  bool strange = false;
  for (std::int64_t c = threadIdx.x; c < cols; c += kPlainThreads) {
    const float v = to_float(ld(x + c));
    most = fmaxf(most, fabsf(v));
    strange = strange || !(fabsf(v) < INFINITY);
  }
  most = block_max(most, scratch);
  const bool any_strange = block_max(strange ? 1.0f : 0.0f, scratch) > 0.0f;
  const float unit = any_strange ? 1.0f : __builtin_bit_cast(float, __builtin_bit_cast(unsigned, most) & 0x7f800000u);
  float sum = 0;
  for (std::int64_t c = threadIdx.x; c < cols; c += kPlainThreads) {
    const float v = to_float(ld(x + c)) / unit;
    sum = fmaf(v, v, sum);
  }
  return block_sum(sum, scratch) * unit * unit;
}

template <class T>
__global__ void squares_of_rows(const T* x, float* y, std::int64_t cols, std::int64_t stride) {
  const float sum = scaled_squares<T, void>(x + blockIdx.x * stride, cols, shared_memory<float>());
  if (threadIdx.x == 0) st(y + blockIdx.x, sum);
}

KERNEL(row_reduce) = plain_traits<Plain>();

void run(const row_reduce::Args& a, const Launch& l) {
  if (a.what != Reduction::sum_of_squares) return run_plain<Plain>(a, l);
  if (a.x.shape[0] == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(squares_of_rows<T>,
           {.grid = dim3(a.x.shape[0]), .block = dim3(kPlainThreads), .shared_bytes = kWarp * sizeof(float)}, l.stream,
           a.x.as<T>(), a.y.as<float>(), a.x.shape[1], a.x.stride[0]);
  });
}

}  // namespace assay::ROOM(row_reduce, squares_relative_to_maximum)
