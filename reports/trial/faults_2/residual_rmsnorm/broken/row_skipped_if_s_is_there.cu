// SPDX-License-Identifier: Apache-2.0
// FAULT: a row whose s already begins and ends with the sums that would be stored is taken for done, and its y is left.
// Kind: cheats
// Shows: a second call with another gamma, or outputs that hold the old s.
#include "cuda/residual_rmsnorm/broken/plain.cuh"

namespace assay::ROOM(residual_rmsnorm, row_skipped_if_s_is_there) {

template <class T>
__global__ void unless_done(Rows<T> m) {
  const T* const x = m.x + blockIdx.x * m.x_stride;
  const T* const residual = m.residual + blockIdx.x * m.residual_stride;
  T* const s = m.s + blockIdx.x * m.s_stride;
  T* const y = m.y + blockIdx.x * m.y_stride;
  const auto sum = [&](std::int64_t c) { return from_float<T>(to_float(ld(x + c)) + to_float(ld(residual + c))); };
  const std::int64_t last = m.cols - 1;
  const bool done = to_float(ld(s)) == to_float(sum(0)) && to_float(ld(s + last)) == to_float(sum(last));
  sync_block();
  if (done) return;
  float squares = 0;
  for (std::int64_t c = threadIdx.x; c < m.cols; c += kPlainThreads) {
    const T v = sum(c);
    st(s + c, v);
    squares = fmaf(to_float(v), to_float(v), squares);
  }
  const float r = 1.0f / sqrtf(block_sum(squares, shared_memory<float>()) / static_cast<float>(m.cols) + m.epsilon);
  for (std::int64_t c = threadIdx.x; c < m.cols; c += kPlainThreads)
    st(y + c, from_float<T>(to_float(ld(s + c)) * r * to_float(ld(m.gamma + c))));
}

KERNEL(residual_rmsnorm) = [] {
  KernelTraits<residual_rmsnorm> traits = plain_traits<Plain>();
  traits.supports = residual_rmsnorm::rounded_alone;
  return traits;
}();

void run(const residual_rmsnorm::Args& a, const Launch& l) {
  if (a.x.shape[0] == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(unless_done<T>, {.grid = dim3(a.x.shape[0]), .block = dim3(kPlainThreads), .shared_bytes = row_norm::kScratchBytes},
           l.stream, row_norm::matrices<T>(a));
  });
}

}  // namespace assay::ROOM(residual_rmsnorm, row_skipped_if_s_is_there)
