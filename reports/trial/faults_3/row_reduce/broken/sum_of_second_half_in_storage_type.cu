// SPDX-License-Identifier: Apache-2.0
// FAULT: rows above 2048 columns are summed in two halves, and the first half's sum waits in the type of the tensors.
// Kind: precision
// Shows: what=sum and sum_of_squares of rows above 2048 columns in f16 and bf16.
#include "cuda/row_reduce/broken/plain.cuh"

namespace assay::ROOM(row_reduce, sum_of_second_half_in_storage_type) {

template <class T, bool kSquares>
__global__ void row_reduce_two_halves(const T* x, float* y, std::int64_t cols, std::int64_t stride) {
  x += blockIdx.x * stride;
  const std::int64_t half = cols > 2048 ? cols / 2 : 0;
  T waiting = from_float<T>(0.0f);
  if (half > 0) {
    float first = 0;
    for (std::int64_t c = threadIdx.x; c < half; c += kPlainThreads) {
      const float v = to_float(ld(x + c));
      first = kSquares ? fmaf(v, v, first) : first + v;
    }
    waiting = from_float<T>(first);
  }
  float sum = 0;
  for (std::int64_t c = half + threadIdx.x; c < cols; c += kPlainThreads) {
    const float v = to_float(ld(x + c));
    sum = kSquares ? fmaf(v, v, sum) : sum + v;
  }
  fold::Sum all{sum + to_float(waiting)};
  all = fold::join_block(all, shared_memory<fold::Sum>());
  if (threadIdx.x == 0) st(y + blockIdx.x, all.value);
}

KERNEL(row_reduce) = plain_traits<Plain>();

void run(const row_reduce::Args& a, const Launch& l) {
  if (a.x.shape[0] == 0) return;
  if (a.what != Reduction::sum && a.what != Reduction::sum_of_squares) return run_plain<Plain>(a, l);
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(a.what == Reduction::sum ? row_reduce_two_halves<T, false> : row_reduce_two_halves<T, true>,
           {.grid = dim3(a.x.shape[0]), .block = dim3(kPlainThreads), .shared_bytes = kWarp * sizeof(fold::Sum)}, l.stream,
           a.x.as<T>(), a.y.as<float>(), a.x.shape[1], a.x.stride[0]);
  });
}

}  // namespace assay::ROOM(row_reduce, sum_of_second_half_in_storage_type)
