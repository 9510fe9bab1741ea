// SPDX-License-Identifier: Apache-2.0
// A query or a key and 64 channels a thread; P and dS are rounded to the dtype before they are multiplied, as declared.
#include "cuda/attention_backward/broken/plain.cuh"

namespace assay::ROOM(attention_backward, narrow_weights) {

template <class T>
struct Narrow : Plain<T> {
  static __device__ float rounded(float v) { return to_float(from_float<T>(v)); }
  static __device__ float d_score(const Problem<T>&, int /*query*/, int /*key*/, float weight, float g, float d) {
    return rounded(weight * (g - d));
  }
  static __device__ float weight_of_d_o(float weight) { return rounded(weight); }
};
KERNEL_DECLARING(attention_backward, plain, Narrow,
                 (Numerics{.accumulate = f32, .chain = {.lanes = 1}, .narrow_probabilities = true}), {bf16, f32});

}  // namespace assay::ROOM(attention_backward, narrow_weights)
