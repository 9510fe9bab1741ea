// SPDX-License-Identifier: Apache-2.0
// The step y = gelu(z) of unfused kernels.
#pragma once

#include "cuda/core/activation.cuh"
#include "cuda/core/pointwise.cuh"

namespace assay::ASSAY_FLAVOUR {

template <Activation kForm>
struct Gelu {
  __device__ float operator()(float z) const { return activate<kForm>(z); }
};

// z, y: [rows, columns].
inline void gelu_step(const Tensor& z, const Tensor& y, Activation form, void* stream) {
  with_type(y.dtype, [&]<class T>(Type<T>) {
    with_gelu(form, [&]<Activation kForm>(std::integral_constant<Activation, kForm>) {
      pointwise::unary<T>({z.as<T>(), z.stride[0]}, y.as<T>(), y.stride[0], y.shape[0], y.shape[1], Gelu<kForm>{}, stream);
    });
  });
}

}  // namespace assay::ASSAY_FLAVOUR
