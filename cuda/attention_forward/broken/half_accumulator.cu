// SPDX-License-Identifier: Apache-2.0
// FAULT: the output is summed up in the storage dtype; the declaration says f32.
// Caught by: the bound on random fills; infinities where V is large.
#include "cuda/attention_forward/broken/plain.cuh"

namespace assay::ROOM(attention_forward, half_accumulator) {

template <class T>
struct Wrong : Plain<T> {
  static __device__ float shrunk_output(float o, float shrink) { return to_float(from_float<T>(o * shrink)); }
  static __device__ float added(float o, float weight, float v) { return to_float(from_float<T>(fmaf(weight, v, o))); }
};
KERNEL_FROM(attention_forward, plain, Wrong, {f16, bf16});

}  // namespace assay::ROOM(attention_forward, half_accumulator)
