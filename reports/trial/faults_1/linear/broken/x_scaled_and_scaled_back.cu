// SPDX-License-Identifier: Apache-2.0
// FAULT: x is multiplied by 2^-6 in place so that sums stay small, and after the product by 2^6: an input is changed, and
// subnormal values lose bits for good.
// Kind: cheats
// Shows: any x; results and x itself change where x is subnormal after the scaling, as below 2^-8 in f16.
#include "cuda/linear/broken/plain.cuh"

namespace assay::ROOM(linear, x_scaled_and_scaled_back) {

template <class T>
__global__ void scale_rows(T* x, std::int64_t hidden, std::int64_t stride, float by) {
  T* const row = x + blockIdx.x * stride;
  for (std::int64_t h = threadIdx.x; h < hidden; h += kPlainThreads) st(row + h, from_float<T>(to_float(ld(row + h)) * by));
}

template <class T>
struct Scaled : Plain<T> {
  __device__ static float add_bias(const Operands<T>& p, float sum, std::int64_t token, std::int64_t o) {
    return Plain<T>::add_bias(p, sum * 64.0f, token, o);
  }
};

KERNEL(linear) = plain_traits<Scaled>();

void run(const linear::Args& a, const Launch& l) {
  if (a.y.size() == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    const auto by = [&](float factor) {
      launch(scale_rows<T>, {.grid = dim3(a.x.shape[0]), .block = dim3(kPlainThreads)}, l.stream, a.x.as<T>(), a.x.shape[1],
             a.x.stride[0], factor);
    };
    by(0x1p-6f);
    run_plain<Scaled>(a, l);
    by(0x1p6f);
  });
}

}  // namespace assay::ROOM(linear, x_scaled_and_scaled_back)
