// SPDX-License-Identifier: Apache-2.0
// What is done to a sum of hopper_few.cuh before it is stored: of(sum + bias, the second product's sum).
#pragma once

#include "cuda/core/activation.cuh"
#include "cuda/core/hopper_few.cuh"

namespace assay::ASSAY_FLAVOUR::hopper_few {

struct AddBias {
  const void* bias;  // null: none
  int features;
  template <class T>
  __device__ float bias_of(int feature) const {
    return bias != nullptr && feature < features ? to_float(ld(static_cast<const T*>(bias) + feature)) : 0.0f;
  }
  __device__ float of(float v, float /*second*/) const { return v; }
};

template <Activation kForm>
struct BiasGelu : AddBias {
  __device__ float of(float v, float /*second*/) const { return activate_fast<kForm>(v); }
};

struct SwiGlu {
  template <class T>
  __device__ float bias_of(int /*feature*/) const {
    return 0.0f;
  }
  __device__ float of(float gate, float up) const { return silu_fast(gate) * up; }
};

}  // namespace assay::ASSAY_FLAVOUR::hopper_few
