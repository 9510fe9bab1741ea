// SPDX-License-Identifier: Apache-2.0
// FAULT: D = rowsum(dO O) is rounded to the type of the tensors before it is used.
// Kind: precision
// Shows: dQ and dK in f16 and bf16.
#include "cuda/attention_backward/broken/plain.cuh"

namespace assay::ROOM(attention_backward, row_dots_in_storage_type) {

template <class T>
struct RoundedD : Plain<T> {
  static __device__ float d_score(const Problem<T>&, int, int, float weight, float g, float d) {
    return weight * (g - to_float(from_float<T>(d)));
  }
};
KERNEL_FROM(attention_backward, plain, RoundedD);

}  // namespace assay::ROOM(attention_backward, row_dots_in_storage_type)
