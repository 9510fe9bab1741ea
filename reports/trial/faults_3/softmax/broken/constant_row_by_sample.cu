// SPDX-License-Identifier: Apache-2.0
// FAULT: a row whose first, middle and last element are equal is taken to be constant, and gets 1 / cols everywhere.
// Kind: cheats
// Shows: rows that only look constant there, for example with equal ends and middle.
#include "cuda/softmax/broken/plain.cuh"

namespace assay::ROOM(softmax, constant_row_by_sample) {

template <class T>
__global__ void softmax_sampled(Matrices<T> m) {
  const T* const x = m.x + blockIdx.x * m.x_stride;
  T* const y = m.y + blockIdx.x * m.y_stride;
  const float first = to_float(ld(x)), middle = to_float(ld(x + m.cols / 2)), last = to_float(ld(x + m.cols - 1));
  if (m.cols > 8 && first == middle && first == last && fabsf(first) < INFINITY) {
    for (std::int64_t c = threadIdx.x; c < m.cols; c += kPlainThreads) st(y + c, from_float<T>(1.0f / m.cols));
    return;
  }
  const Sum by = Plain<T>::template sum<Plain<T>>(x, m.cols, blockIdx.x, threadIdx.x);
  for (std::int64_t c = threadIdx.x; c < m.cols; c += kPlainThreads)
    st(y + c, from_float<T>(expf(to_float(ld(x + c)) - by.max) / by.sum));
}

KERNEL(softmax) = plain_traits<Plain>();

void run(const softmax::Args& a, const Launch& l) {
  const std::int64_t rows = a.x.shape[0], cols = a.x.shape[1];
  if (rows == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(softmax_sampled<T>, {.grid = dim3(rows), .block = dim3(kPlainThreads), .shared_bytes = kWarp * sizeof(float)},
           l.stream, Matrices<T>{a.x.as<T>(), a.y.as<T>(), rows, cols, a.x.stride[0], a.y.stride[0]});
  });
}

}  // namespace assay::ROOM(softmax, constant_row_by_sample)
