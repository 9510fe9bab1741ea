// SPDX-License-Identifier: Apache-2.0
// FAULT: a row whose residual begins with eight zeros is taken to have none, so s is x there.
// Kind: cheats
// Shows: rows with a residual that is zero at first and not later.
#include "cuda/residual_layernorm/broken/plain.cuh"

namespace assay::ROOM(residual_layernorm, zero_residual_by_sample) {

template <class T>
__global__ void residual_layernorm_sampled(Rows<T> m) {
  const std::int64_t row = blockIdx.x;
  const T* const x = m.x + row * m.x_stride;
  const T* const residual = m.residual + row * m.residual_stride;
  T* const s = m.s + row * m.s_stride;
  T* const y = m.y + row * m.y_stride;
  float* const partial = shared_memory<float>();
  bool none = true;
  for (int c = 0; c < 8 && c < m.cols; ++c) none = none && to_float(ld(residual + c)) == 0;
  float sum = 0, squares = 0;
  for (std::int64_t c = threadIdx.x; c < m.cols; c += kPlainThreads) {
    const T v = none ? ld(x + c) : from_float<T>(to_float(ld(x + c)) + to_float(ld(residual + c)));
    st(s + c, v);
    sum += to_float(v);
  }
  const float mean = block_sum(sum, partial) / static_cast<float>(m.cols);
  for (std::int64_t c = threadIdx.x; c < m.cols; c += kPlainThreads) {
    const float d = to_float(ld(s + c)) - mean;
    squares = fmaf(d, d, squares);
  }
  const float r = 1.0f / sqrtf(block_sum(squares, partial) / static_cast<float>(m.cols) + m.epsilon);
  for (std::int64_t c = threadIdx.x; c < m.cols; c += kPlainThreads)
    st(y + c, from_float<T>(fmaf((to_float(ld(s + c)) - mean) * r, to_float(ld(m.gamma + c)), to_float(ld(m.beta + c)))));
}

KERNEL(residual_layernorm) = plain_traits<Plain>();

void run(const residual_layernorm::Args& a, const Launch& l) {
  if (a.x.shape[0] == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(residual_layernorm_sampled<T>,
           {.grid = dim3(a.x.shape[0]), .block = dim3(kPlainThreads), .shared_bytes = row_norm::kScratchBytes}, l.stream,
           row_norm::matrices<T>(a));
  });
}

}  // namespace assay::ROOM(residual_layernorm, zero_residual_by_sample)
