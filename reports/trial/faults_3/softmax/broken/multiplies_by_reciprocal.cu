// SPDX-License-Identifier: Apache-2.0
// FAULT: a term is multiplied by a reciprocal of the sum made by a Newton step from 12 bits, where a division is declared.
// Kind: precision
// Shows: f32, last digits.
#include "cuda/softmax/broken/plain.cuh"

namespace assay::ROOM(softmax, multiplies_by_reciprocal) {

template <class T>
__global__ void softmax_by_reciprocal(Matrices<T> m) {
  const T* const x = m.x + blockIdx.x * m.x_stride;
  T* const y = m.y + blockIdx.x * m.y_stride;
  float max = -INFINITY, sum = 0;
  for (std::int64_t c = threadIdx.x; c < m.cols; c += kPlainThreads) max = fmaxf(max, to_float(ld(x + c)));
  max = block_max(max, shared_memory<float>());
  for (std::int64_t c = threadIdx.x; c < m.cols; c += kPlainThreads) sum += expf(to_float(ld(x + c)) - max);
  sum = block_sum(sum, shared_memory<float>());
  const float rough = of_12_bits(1.0f / sum), r = rough * fmaf(-sum, rough, 2.0f);
  for (std::int64_t c = threadIdx.x; c < m.cols; c += kPlainThreads)
    st(y + c, from_float<T>(expf(to_float(ld(x + c)) - max) * r));
}

KERNEL(softmax) = plain_traits<Plain>();

void run(const softmax::Args& a, const Launch& l) {
  const std::int64_t rows = a.x.shape[0], cols = a.x.shape[1];
  if (rows == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(softmax_by_reciprocal<T>,
           {.grid = dim3(rows), .block = dim3(kPlainThreads), .shared_bytes = kWarp * sizeof(float)}, l.stream,
           Matrices<T>{a.x.as<T>(), a.y.as<T>(), rows, cols, a.x.stride[0], a.y.stride[0]});
  });
}

}  // namespace assay::ROOM(softmax, multiplies_by_reciprocal)
