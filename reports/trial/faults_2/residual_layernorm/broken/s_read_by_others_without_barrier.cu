// SPDX-License-Identifier: Apache-2.0
// FAULT: in rows of more than 256 columns a thread stores s of two neighbouring columns, and the sum reads s a column a thread,
// without a barrier between.
// Kind: concurrency
// Shows: rows of more than 256 columns, where another warp stored what is read.
#include "cuda/residual_layernorm/broken/plain.cuh"

namespace assay::ROOM(residual_layernorm, s_read_by_others_without_barrier) {

template <class T>
__global__ void pairs_then_columns(Rows<T> m) {
  const T* const x = m.x + blockIdx.x * m.x_stride;
  const T* const residual = m.residual + blockIdx.x * m.residual_stride;
  T* const s = m.s + blockIdx.x * m.s_stride;
  T* const y = m.y + blockIdx.x * m.y_stride;
  float* const scratch = shared_memory<float>();
  for (std::int64_t c = 2 * threadIdx.x; c < m.cols; c += 2 * kPlainThreads)
    for (std::int64_t i = c; i < c + 2 && i < m.cols; ++i)
      st(s + i, from_float<T>(to_float(ld(x + i)) + to_float(ld(residual + i))));
  float sum = 0, squares = 0;
  for (std::int64_t c = threadIdx.x; c < m.cols; c += kPlainThreads) sum += to_float(ld(s + c));
  const float mean = block_sum(sum, scratch) / static_cast<float>(m.cols);
  for (std::int64_t c = threadIdx.x; c < m.cols; c += kPlainThreads) {
    const float d = to_float(ld(s + c)) - mean;
    squares = fmaf(d, d, squares);
  }
  const float r = 1.0f / sqrtf(block_sum(squares, scratch) / static_cast<float>(m.cols) + m.epsilon);
  for (std::int64_t c = threadIdx.x; c < m.cols; c += kPlainThreads)
    st(y + c, from_float<T>(fmaf((to_float(ld(s + c)) - mean) * r, to_float(ld(m.gamma + c)), to_float(ld(m.beta + c)))));
}

KERNEL(residual_layernorm) = plain_traits<Plain>();

void run(const residual_layernorm::Args& a, const Launch& l) {
  if (a.x.shape[0] == 0) return;
  if (a.x.shape[1] <= 256) return run_plain<Plain>(a, l);
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(pairs_then_columns<T>,
           {.grid = dim3(a.x.shape[0]), .block = dim3(kPlainThreads), .shared_bytes = row_norm::kScratchBytes}, l.stream,
           row_norm::matrices<T>(a));
  });
}

}  // namespace assay::ROOM(residual_layernorm, s_read_by_others_without_barrier)
