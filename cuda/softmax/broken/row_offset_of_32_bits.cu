// SPDX-License-Identifier: Apache-2.0
// FAULT: row times stride is kept in an int: right while x and y have fewer than 2^31 elements.
// Caught by: T4, on the layout far: an access outside every tensor.
#include "cuda/softmax/broken/plain.cuh"

namespace assay::ROOM(softmax, row_offset_of_32_bits) {

KERNEL(softmax) = plain_traits<Plain>();

template <class T, class S>
__global__ void softmax_narrow(Matrices<T> m) {
  const int row = static_cast<int>(blockIdx.x), thread = static_cast<int>(threadIdx.x);
  const int x_offset = static_cast<int>(row * m.x_stride), y_offset = static_cast<int>(row * m.y_stride);
  const T* const x = m.x + x_offset;
  const Sum by = S::template sum<S>(x, m.cols, row, thread);
  for (std::int64_t c = thread; c < m.cols; c += kPlainThreads)
    st(m.y + y_offset + c, from_float<T>(S::quotient(S::exponential(to_float(ld(x + c)) - by.max, row), by)));
}

void run(const softmax::Args& a, const Launch& l) {
  if (a.x.shape[0] == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(softmax_narrow<T, Plain<T>>,
           {.grid = dim3(a.x.shape[0]), .block = dim3(kPlainThreads), .shared_bytes = Plain<T>::kSharedBytes}, l.stream,
           Matrices<T>{a.x.as<T>(), a.y.as<T>(), a.x.shape[0], a.x.shape[1], a.x.stride[0], a.y.stride[0]});
  });
}

}  // namespace assay::ROOM(softmax, row_offset_of_32_bits)
