// SPDX-License-Identifier: Apache-2.0
// FAULT: gamma is read in whole packs, so the last one reaches past the end of gamma where a pack does not divide the columns.
// Kind: concurrency
// Shows: columns that are no multiple of a pack of 8 or 4; the results are right.
#include "cuda/rmsnorm/broken/plain.cuh"

namespace assay::ROOM(rmsnorm, pack_of_gamma_past_the_end) {

template <class T, int N>
__global__ void rmsnorm_gamma_packs(Rows<T> m) {
  const T* const x = m.x + blockIdx.x * m.x_stride;
  T* const y = m.y + blockIdx.x * m.y_stride;
  const float r = Plain<T>::inverse(m, Plain<T>::template squares<Plain<T>>(m, x));
  for (std::int64_t i = threadIdx.x; i * N < m.cols; i += kPlainThreads) {
    const Vec<T, N> gamma = ld(reinterpret_cast<const Vec<T, N>*>(m.gamma) + i);
    for (int j = 0; j < N && i * N + j < m.cols; ++j)
      st(y + i * N + j, from_float<T>(to_float(ld(x + i * N + j)) * r * to_float(gamma[j])));
  }
}

KERNEL(rmsnorm) = plain_traits<Plain>();

void run(const rmsnorm::Args& a, const Launch& l) {
  if (a.x.shape[0] == 0) return;
  if (!a.gamma.rows_aligned(16)) return run_plain<Plain>(a, l);
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(rmsnorm_gamma_packs<T, 16 / static_cast<int>(sizeof(T))>,
           {.grid = dim3(a.x.shape[0]), .block = dim3(kPlainThreads), .shared_bytes = row_norm::kScratchBytes}, l.stream,
           row_norm::matrices<T>(a));
  });
}

}  // namespace assay::ROOM(rmsnorm, pack_of_gamma_past_the_end)
