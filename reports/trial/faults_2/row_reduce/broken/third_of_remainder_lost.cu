// SPDX-License-Identifier: Apache-2.0
// FAULT: a thread takes four columns at a time; of a remainder of up to three it takes two.
// Kind: offsets
// Shows: cols whose remainder by 512 is above 256, such as 300.
#include "cuda/row_reduce/broken/plain.cuh"

namespace assay::ROOM(row_reduce, third_of_remainder_lost) {

template <class Fold, class T>
__device__ void four_at_a_time(const T* x, float* y, std::int64_t cols) {
  Fold f;
  std::int64_t c = threadIdx.x;
  for (; c + 3 * kPlainThreads < cols; c += 4 * kPlainThreads) {
    float v[4];
#pragma unroll
    for (int j = 0; j < 4; ++j) v[j] = to_float(ld(x + c + j * kPlainThreads));
    f.add(v);
  }
#pragma unroll
  for (int j = 0; j < 2; ++j, c += kPlainThreads)
    if (c < cols) {
      const float v[1] = {to_float(ld(x + c))};
      f.add(v);
    }
  f = fold::join_block(f, shared_memory<Fold>());
  if (threadIdx.x == 0) st(y + blockIdx.x, f.result());
}

template <class T>
__global__ void rows_in_fours(const T* x, float* y, std::int64_t cols, std::int64_t stride, Reduction what) {
  x += blockIdx.x * stride;
  if (what == Reduction::sum) four_at_a_time<fold::Sum>(x, y, cols);
  else if (what == Reduction::max) four_at_a_time<fold::Max>(x, y, cols);
  else if (what == Reduction::logsumexp) four_at_a_time<fold::LogSumExp>(x, y, cols);
  else four_at_a_time<fold::SumOfSquares>(x, y, cols);
}

KERNEL(row_reduce) = plain_traits<Plain>();

void run(const row_reduce::Args& a, const Launch& l) {
  if (a.x.shape[0] == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(rows_in_fours<T>,
           {.grid = dim3(a.x.shape[0]), .block = dim3(kPlainThreads), .shared_bytes = kWarp * sizeof(fold::LogSumExp)}, l.stream,
           a.x.as<T>(), a.y.as<float>(), a.x.shape[1], a.x.stride[0], a.what);
  });
}

}  // namespace assay::ROOM(row_reduce, third_of_remainder_lost)
