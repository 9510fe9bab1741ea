// SPDX-License-Identifier: Apache-2.0
// FAULT: the output so far is rounded to the type of the tensors whenever a larger maximum scales it down.
// Kind: precision
// Shows: f16 and bf16; f32 is right.
#include "cuda/attention_forward/broken/plain.cuh"

namespace assay::ROOM(attention_forward, output_rounded_when_rescaled) {

template <class T>
struct RoundedOutput : Plain<T> {
  static __device__ float shrunk_output(float o, float shrink) { return to_float(from_float<T>(o * shrink)); }
};
KERNEL_FROM(attention_forward, plain, RoundedOutput);

}  // namespace assay::ROOM(attention_forward, output_rounded_when_rescaled)
