// SPDX-License-Identifier: Apache-2.0
// FAULT: the weights are rounded to the storage dtype before they meet V, as tensor cores want them, and the declaration does
// not say so.
// Caught by: T1, where the values do not cancel (values_one, uniform01, hot_keys).
#include "cuda/attention_forward/broken/plain.cuh"

namespace assay::ROOM(attention_forward, weights_rounded) {

KERNEL(attention_forward) = plain_traits({f16, bf16});

template <class T>
struct Wrong : Steps<T> {
  static __device__ float added(float o, float weight, float v) {
    return fmaf(to_float(from_float<T>(weight)), v, o);
  }
};

void run(const attention_forward::Args& a, const Launch& l) { run_plain<Wrong>(a, l); }

}  // namespace assay::ROOM(attention_forward, weights_rounded)
