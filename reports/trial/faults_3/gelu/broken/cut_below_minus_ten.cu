// SPDX-License-Identifier: Apache-2.0
// FAULT: GELU is taken to be zero below -10, also for -inf, and only there.
// Kind: ranges
// Shows: inputs below -10 in bf16 and f32, and -inf in every dtype.
#include "cuda/gelu/broken/plain.cuh"

namespace assay::ROOM(gelu, cut_below_minus_ten) {

template <class T>
__global__ void gelu_cut_rows(const T* x, T* y, std::int64_t cols, std::int64_t x_stride, std::int64_t y_stride, bool erf_form) {
  x += blockIdx.x * x_stride, y += blockIdx.x * y_stride;
  for (std::int64_t c = threadIdx.x; c < cols; c += kPlainThreads) {
    const float z = to_float(ld(x + c));
    st(y + c, from_float<T>(z < -10.0f ? -0.0f : erf_form ? gelu_erf(z) : gelu_tanh(z)));
  }
}

KERNEL(gelu) = plain_traits<Plain>();

void run(const gelu::Args& a, const Launch& l) {
  if (a.x.size() == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(gelu_cut_rows<T>, {.grid = dim3(a.x.shape[0]), .block = dim3(kPlainThreads)}, l.stream, a.x.as<T>(), a.y.as<T>(),
           a.x.shape[1], a.x.stride[0], a.y.stride[0], a.form == Activation::gelu_erf);
  });
}

}  // namespace assay::ROOM(gelu, cut_below_minus_ten)
