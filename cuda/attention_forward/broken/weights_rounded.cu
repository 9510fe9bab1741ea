// SPDX-License-Identifier: Apache-2.0
// FAULT: the weights are rounded to the storage dtype before they meet V, as tensor cores want them, and the declaration does
// not say so.
// Caught by: T1, where the values do not cancel (values_one, uniform01, hot_keys).
#include "cuda/attention_forward/broken/plain.cuh"

namespace assay::ROOM(attention_forward, weights_rounded) {

template <class T>
struct Wrong : Plain<T> {
  static __device__ float added(float o, float weight, float v) { return fmaf(to_float(from_float<T>(weight)), v, o); }
};
KERNEL_FROM(attention_forward, plain, Wrong, {f16, bf16});

}  // namespace assay::ROOM(attention_forward, weights_rounded)
