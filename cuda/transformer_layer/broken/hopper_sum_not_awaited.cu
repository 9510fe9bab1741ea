// SPDX-License-Identifier: Apache-2.0
// FAULT: the last sum is launched to begin early, as the products are, and does not wait for the launch before it.
// Caught by: T4 on simt, early_read, in every case.
#include "cuda/core/kernel_family.cuh"
#include "cuda/transformer_layer/hopper.cuh"

namespace assay::ROOM(transformer_layer, hopper_sum_not_awaited) {

template <class T>
__global__ void transformer_layer_sum(const T* h, const T* mlp, T* y, std::int64_t size) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  const float sum = i < size ? to_float(ld(h + i)) + to_float(ld(mlp + i)) : 0.0f;
  wait_for_previous_grid();
  if (i < size) st(y + i, from_float<T>(sum));
}

struct Wrong final : Hopper {
  using Hopper::Hopper;
  void add_second_residual() override {
    steps(Step<add>{add_room::vector16::traits, sum_of},
          {.a = matrix(a.h, tokens), .b = matrix(a.mlp, tokens), .y = matrix(a.y, tokens)});
  }

 private:
  static void sum_of(const add::Args& s, const Launch& l) {
    with_half_type(s.y.dtype, [&]<class T>(Type<T>) {
      launch(transformer_layer_sum<T>, {.grid = dim3(ceil_div(s.y.size(), 256)), .block = dim3(256), .dependent = l.after},
             l.stream, s.a.as<T>(), s.b.as<T>(), s.y.as<T>(), s.y.size());
    });
  }
};
KERNEL_FROM(transformer_layer, hopper, Wrong);

}  // namespace assay::ROOM(transformer_layer, hopper_sum_not_awaited)
