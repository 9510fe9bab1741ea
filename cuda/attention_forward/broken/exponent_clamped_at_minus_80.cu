// SPDX-License-Identifier: Apache-2.0
// FAULT: exponents are kept above -80: a score of -inf weighs 2e-35, and a query that sees no other gets their mean.
// Kind: range
// Caught by: the exact probes, with fill=probe_one_key (bf16).
#include "cuda/attention_forward/broken/plain.cuh"

namespace assay::ROOM(attention_forward, exponent_clamped_at_minus_80) {

template <class T>
struct Wrong : Plain<T> {
  static __device__ float exponential(const Problem<T>&, float v) { return expf(v < -80.0f ? -80.0f : v); }
};
KERNEL_FROM(attention_forward, plain, Wrong);

}  // namespace assay::ROOM(attention_forward, exponent_clamped_at_minus_80)
