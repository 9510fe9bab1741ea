// SPDX-License-Identifier: Apache-2.0
// FAULT: an epsilon below 1e-6 is raised to 1e-6.
// Kind: ranges
// Shows: a small epsilon and rows of small variance; a constant row with epsilon 0 gives beta and not NaN.
#include "cuda/layernorm/broken/plain.cuh"

namespace assay::ROOM(layernorm, epsilon_not_below_a_millionth) {

template <class T>
__global__ void layernorm_raised_epsilon(Rows<T> m, float epsilon) {
  const T* const x = m.x + blockIdx.x * m.x_stride;
  T* const y = m.y + blockIdx.x * m.y_stride;
  const Moments of = Plain<T>::template moments<Plain<T>>(x, m.cols);
  const float r = 1.0f / sqrtf(of.variance + epsilon);
  for (std::int64_t c = threadIdx.x; c < m.cols; c += kPlainThreads)
    st(y + c, from_float<T>(fmaf((to_float(ld(x + c)) - of.mean) * r, to_float(ld(m.gamma + c)), to_float(ld(m.beta + c)))));
}

KERNEL(layernorm) = plain_traits<Plain>();

void run(const layernorm::Args& a, const Launch& l) {
  if (a.x.shape[0] == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(layernorm_raised_epsilon<T>,
           {.grid = dim3(a.x.shape[0]), .block = dim3(kPlainThreads), .shared_bytes = row_norm::kScratchBytes}, l.stream,
           row_norm::matrices<T>(a), static_cast<float>(std::max(a.epsilon, 1e-6)));
  });
}

}  // namespace assay::ROOM(layernorm, epsilon_not_below_a_millionth)
