// SPDX-License-Identifier: Apache-2.0
// FAULT: O is multiplied by an approximate reciprocal of the sum, good to 12 bits, without the Newton step after it.
// Kind: precision
// Caught by: the bound, with batch=2 seq_q=1 seq_k=2 heads=4 kv_heads=2 head_dim=64 mask=causal (f16).
#include "cuda/attention_forward/broken/plain.cuh"

namespace assay::ROOM(attention_forward, reciprocal_of_12_bits) {

template <class T>
struct Wrong : Plain<T> {
  static __device__ float output(float o, float sum) { return sum == 0 ? 0.0f : o * of_12_bits(1.0f / sum); }
};
KERNEL_FROM(attention_forward, plain, Wrong, {f16, bf16});

}  // namespace assay::ROOM(attention_forward, reciprocal_of_12_bits)
