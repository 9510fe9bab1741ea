// SPDX-License-Identifier: Apache-2.0
// FAULT: rows of more than 768 columns keep their sum in the memory of the residual, as kernels do whose sum replaces it.
// Kind: layout
// Shows: the outputs are right, but the residual is overwritten in rows of more than 768 columns.
#include "cuda/residual_rmsnorm/broken/plain.cuh"

namespace assay::ROOM(residual_rmsnorm, long_rows_staged_in_residual) {

inline constexpr std::int64_t kShort = 768;

template <class T>
__global__ void residual_rmsnorm_staged(Rows<T> m, T* stage, std::int64_t stage_stride) {
  const std::int64_t row = blockIdx.x;
  const T* const x = m.x + row * m.x_stride;
  const T* const residual = m.residual + row * m.residual_stride;
  T* const s = m.s + row * m.s_stride;
  T* const y = m.y + row * m.y_stride;
  T* const kept = stage + row * stage_stride;
  float squares = 0;
  for (std::int64_t c = threadIdx.x; c < m.cols; c += kPlainThreads) {
    const T v = from_float<T>(to_float(ld(x + c)) + to_float(ld(residual + c)));
    st(kept + c, v);
    squares = fmaf(to_float(v), to_float(v), squares);
  }
  const float r = 1.0f / sqrtf(block_sum(squares, shared_memory<float>()) / static_cast<float>(m.cols) + m.epsilon);
  for (std::int64_t c = threadIdx.x; c < m.cols; c += kPlainThreads) {
    const T v = ld(kept + c);
    st(s + c, v);
    st(y + c, from_float<T>(to_float(v) * r * to_float(ld(m.gamma + c))));
  }
}

KERNEL(residual_rmsnorm) = [] {
  KernelTraits<residual_rmsnorm> traits = plain_traits<Plain>();
  traits.supports = residual_rmsnorm::rounded_alone;
  return traits;
}();

void run(const residual_rmsnorm::Args& a, const Launch& l) {
  if (a.x.shape[0] == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    const Tensor& stage = a.x.shape[1] > kShort ? a.residual : a.s;
    launch(residual_rmsnorm_staged<T>,
           {.grid = dim3(a.x.shape[0]), .block = dim3(kPlainThreads), .shared_bytes = row_norm::kScratchBytes}, l.stream,
           row_norm::matrices<T>(a), stage.as<T>(), stage.stride[0]);
  });
}

}  // namespace assay::ROOM(residual_rmsnorm, long_rows_staged_in_residual)
