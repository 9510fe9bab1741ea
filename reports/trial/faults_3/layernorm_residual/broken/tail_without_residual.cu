// SPDX-License-Identifier: Apache-2.0
// FAULT: rows are normalised in groups of 12 columns, and the columns after the last whole group do not get the residual.
// Kind: offsets
// Shows: columns that 12 does not divide, beyond 96.
#include "cuda/layernorm_residual/broken/plain.cuh"

namespace assay::ROOM(layernorm_residual, tail_without_residual) {

inline constexpr int kGroup = 12;

template <class T>
__global__ void layernorm_residual_groups(Rows<T> m) {
  using F = Plain<T>;
  F::advance(m, blockIdx.x);
  const Moments of = F::template moments<F>(m);
  const float r = F::inverse(m, of.variance);
  const std::int64_t whole = m.cols < 8 * kGroup ? 0 : m.cols / kGroup * kGroup;
  for (std::int64_t first = threadIdx.x * kGroup; first < whole; first += kPlainThreads * kGroup)
    for (int i = 0; i < kGroup; ++i)
      st(m.y + first + i,
         from_float<T>(F::layernorm(m, first + i, of.mean, r) + to_float(ld(m.residual + first + i))));
  for (std::int64_t c = whole + threadIdx.x; c < m.cols; c += kPlainThreads) {
    const float v = F::layernorm(m, c, of.mean, r);
    st(m.y + c, from_float<T>(whole == 0 ? v + to_float(ld(m.residual + c)) : v));
  }
}

KERNEL(layernorm_residual) = plain_traits<Plain>();

void run(const layernorm_residual::Args& a, const Launch& l) {
  if (a.x.shape[0] == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(layernorm_residual_groups<T>,
           {.grid = dim3(a.x.shape[0]), .block = dim3(kPlainThreads), .shared_bytes = kWarp * sizeof(float)}, l.stream,
           rows_of<T>(a));
  });
}

}  // namespace assay::ROOM(layernorm_residual, tail_without_residual)
