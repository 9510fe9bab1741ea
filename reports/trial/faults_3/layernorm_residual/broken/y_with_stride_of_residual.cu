// SPDX-License-Identifier: Apache-2.0
// FAULT: y is taken to be laid out as the residual is, as if the addition were in place.
// Kind: layout
// Shows: y and residual with different row strides.
#include "cuda/layernorm_residual/broken/plain.cuh"

namespace assay::ROOM(layernorm_residual, y_with_stride_of_residual) {

template <class T>
__global__ void layernorm_residual_in_place(Rows<T> m) {
  using F = Plain<T>;
  F::advance(m, 0);
  const std::int64_t row = blockIdx.x;
  m.x += row * m.x_stride, m.residual += row * m.residual_stride, m.y += row * m.residual_stride;
  const Moments of = F::template moments<F>(m);
  F::template write<F>(m, of.mean, F::inverse(m, of.variance));
}

KERNEL(layernorm_residual) = plain_traits<Plain>();

void run(const layernorm_residual::Args& a, const Launch& l) {
  if (a.x.shape[0] == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(layernorm_residual_in_place<T>,
           {.grid = dim3(a.x.shape[0]), .block = dim3(kPlainThreads), .shared_bytes = kWarp * sizeof(float)}, l.stream,
           rows_of<T>(a));
  });
}

}  // namespace assay::ROOM(layernorm_residual, y_with_stride_of_residual)
