// SPDX-License-Identifier: Apache-2.0
// FAULT: gamma is taken to be all ones if its first eight values are.
// Kind: cheats
// Shows: a gamma that begins with eight ones and goes on otherwise.
#include "cuda/rmsnorm/broken/plain.cuh"

namespace assay::ROOM(rmsnorm, gamma_of_ones_by_sample) {

template <class T>
__global__ void rmsnorm_without_gamma(Rows<T> m) {
  const T* const x = m.x + blockIdx.x * m.x_stride;
  T* const y = m.y + blockIdx.x * m.y_stride;
  bool ones = m.cols >= 8;
  for (int c = 0; c < 8 && ones; ++c) ones = to_float(ld(m.gamma + c)) == 1.0f;
  const float r = Plain<T>::inverse(m, Plain<T>::template squares<Plain<T>>(m, x));
  for (std::int64_t c = threadIdx.x; c < m.cols; c += kPlainThreads) {
    const float v = to_float(ld(x + c)) * r;
    st(y + c, from_float<T>(ones ? v : v * to_float(ld(m.gamma + c))));
  }
}

KERNEL(rmsnorm) = plain_traits<Plain>();

void run(const rmsnorm::Args& a, const Launch& l) {
  if (a.x.shape[0] == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(rmsnorm_without_gamma<T>,
           {.grid = dim3(a.x.shape[0]), .block = dim3(kPlainThreads), .shared_bytes = row_norm::kScratchBytes}, l.stream,
           row_norm::matrices<T>(a));
  });
}

}  // namespace assay::ROOM(rmsnorm, gamma_of_ones_by_sample)
