// SPDX-License-Identifier: Apache-2.0
// FAULT: packs of 16 bytes are taken where the rows of x and y are aligned; gamma, a vector of its own, is taken to be, too.
// Kind: layout
// Caught by: misaligned, with layout=mixed (f16), in edges alone.
#include "cuda/rmsnorm/broken/plain.cuh"

namespace assay::ROOM(rmsnorm, alignment_of_gamma_unchecked) {

KERNEL(rmsnorm) = plain_traits<Plain>();

template <class T, int N>
__global__ void rmsnorm_packs(Rows<T> m) {
  using Pack = Vec<T, N>;
  const T* const x = m.x + blockIdx.x * m.x_stride;
  T* const y = m.y + blockIdx.x * m.y_stride;
  const float r = Plain<T>::inverse(m, Plain<T>::squares(m, x));
  for (std::int64_t i = threadIdx.x; i < m.cols / N; i += kPlainThreads) {
    const Pack v = ld(reinterpret_cast<const Pack*>(x) + i), gamma = ld(reinterpret_cast<const Pack*>(m.gamma) + i);
    float scaled[N];
    for (int j = 0; j < N; ++j) scaled[j] = Plain<T>::scaled(to_float(v[j]), r, to_float(gamma[j]));
    st(reinterpret_cast<Pack*>(y) + i, from_floats<T>(scaled));
  }
}

void run(const rmsnorm::Args& a, const Launch& l) {
  if (a.x.shape[0] == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    constexpr int N = 16 / sizeof(T);
    if (!a.x.rows_aligned(16) || !a.y.rows_aligned(16) || a.x.shape[1] % N != 0) return run_plain<Plain>(a, l);
    launch(rmsnorm_packs<T, N>,
           {.grid = dim3(a.x.shape[0]), .block = dim3(kPlainThreads), .shared_bytes = row_norm::kScratchBytes}, l.stream,
           row_norm::matrices<T>(a));
  });
}

}  // namespace assay::ROOM(rmsnorm, alignment_of_gamma_unchecked)
