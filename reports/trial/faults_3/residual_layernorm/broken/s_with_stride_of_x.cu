// SPDX-License-Identifier: Apache-2.0
// FAULT: s is written with the row stride of x.
// Kind: layout
// Shows: s and x with different row strides.
#include "cuda/residual_layernorm/broken/plain.cuh"

namespace assay::ROOM(residual_layernorm, s_with_stride_of_x) {

template <class T>
struct LikeX : Plain<T> {
  static __device__ T* s_of(const Rows<T>& m, std::int64_t row) { return m.s + row * m.x_stride; }
};
KERNEL_FROM(residual_layernorm, plain, LikeX);

}  // namespace assay::ROOM(residual_layernorm, s_with_stride_of_x)
