// SPDX-License-Identifier: Apache-2.0
// FAULT: the normalised row is rounded to the storage dtype and the declaration does not say so.
// Caught by: the bound, where the sum cancels: cancelling; elsewhere near it.
#include "cuda/layernorm_linear/broken/plain.cuh"

namespace assay::ROOM(layernorm_linear, rounded_rows) {

template <class T>
struct Wrong : Formula<T> {
  static __device__ float normalised(const Plain<T>& p, std::int64_t h, float d, float r) {
    return to_float(from_float<T>(Formula<T>::normalised(p, h, d, r)));
  }
};
KERNEL_FROM(layernorm_linear, plain, Wrong, {f16, bf16});

}  // namespace assay::ROOM(layernorm_linear, rounded_rows)
