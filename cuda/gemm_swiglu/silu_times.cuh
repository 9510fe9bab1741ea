// SPDX-License-Identifier: Apache-2.0
// The last step, shared by the pipelines of this room: y = silu(gate) * up.
#pragma once

#include "cuda/core/activation.cuh"
#include "cuda/core/pointwise.cuh"

namespace assay::ASSAY_FLAVOUR::gemm_swiglu_room {

struct SiluTimes {
  __device__ float operator()(float gate, float up) const { return silu(gate) * up; }
};

// gate, up, y: [tokens, ffn].
inline void silu_times(const Tensor& gate, const Tensor& up, const Tensor& y, void* stream) {
  with_type(y.dtype, [&]<class T>(Type<T>) {
    pointwise::binary<T>({gate.as<T>(), gate.stride[0]}, {up.as<T>(), up.stride[0]}, y.as<T>(), y.stride[0], y.shape[0],
                         y.shape[1], SiluTimes{}, stream);
  });
}

}  // namespace assay::ASSAY_FLAVOUR::gemm_swiglu_room
