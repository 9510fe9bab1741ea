// SPDX-License-Identifier: Apache-2.0
// FAULT: a query without a visible key divides zero by zero.
// Caught by: the class of O (NaN where 0 is right), with mask=causal and seq_q > seq_k, or no keys.
#include "cuda/attention_forward/broken/plain.cuh"

namespace assay::ROOM(attention_forward, empty_row_is_nan) {

template <class T>
struct Wrong : Plain<T> {
  static __device__ float output(float o, float sum) { return o / sum; }
};
KERNEL_FROM(attention_forward, plain, Wrong);

}  // namespace assay::ROOM(attention_forward, empty_row_is_nan)
