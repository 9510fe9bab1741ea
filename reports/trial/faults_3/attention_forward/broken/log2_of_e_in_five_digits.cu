// SPDX-License-Identifier: Apache-2.0
// FAULT: exp(v) is exp2(1.4427 v), whose constant is off by 3.4e-6.
// Kind: precision
// Shows: scores far from the maximum; O in f32, L in every dtype.
#include "cuda/attention_forward/broken/plain.cuh"

namespace assay::ROOM(attention_forward, log2_of_e_in_five_digits) {

template <class T>
struct FiveDigits : Plain<T> {
  static __device__ float exponential(const Problem<T>&, float v) { return exp2f(v * 1.4427f); }
};
KERNEL_FROM(attention_forward, plain, FiveDigits);

}  // namespace assay::ROOM(attention_forward, log2_of_e_in_five_digits)
