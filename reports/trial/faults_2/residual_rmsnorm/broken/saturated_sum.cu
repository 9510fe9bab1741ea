// SPDX-License-Identifier: Apache-2.0
// FAULT: a sum beyond the largest half is stored as that number in place of infinity.
// Kind: ranges
// Shows: f16, where x + residual overflows.
#include "cuda/residual_rmsnorm/broken/plain.cuh"

namespace assay::ROOM(residual_rmsnorm, saturated_sum) {

template <class T>
__global__ void saturating(Rows<T> m) {
  const T* const x = m.x + blockIdx.x * m.x_stride;
  const T* const residual = m.residual + blockIdx.x * m.residual_stride;
  T* const s = m.s + blockIdx.x * m.s_stride;
  T* const y = m.y + blockIdx.x * m.y_stride;
  float squares = 0;
  for (std::int64_t c = threadIdx.x; c < m.cols; c += kPlainThreads) {
    float v = to_float(ld(x + c)) + to_float(ld(residual + c));
    if (std::is_same_v<T, half> && fabsf(v) > 65504.0f && fabsf(v) < INFINITY) v = copysignf(65504.0f, v);
    const T stored = from_float<T>(v);
    st(s + c, stored);
    squares = fmaf(to_float(stored), to_float(stored), squares);
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
    launch(saturating<T>, {.grid = dim3(a.x.shape[0]), .block = dim3(kPlainThreads), .shared_bytes = row_norm::kScratchBytes},
           l.stream, row_norm::matrices<T>(a));
  });
}

}  // namespace assay::ROOM(residual_rmsnorm, saturated_sum)
