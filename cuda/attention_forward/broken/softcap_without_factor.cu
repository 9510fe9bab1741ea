// SPDX-License-Identifier: Apache-2.0
// FAULT: scores become tanh(s / cap), not multiplied by cap again.
// Caught by: the bound, on any fill with a softcap other than 1; right without one.
#include "cuda/attention_forward/broken/plain.cuh"

namespace assay::ROOM(attention_forward, softcap_without_factor) {

KERNEL(attention_forward) = plain_traits({f16, bf16, f32});

template <class T>
struct Wrong : Steps<T> {
  static __device__ float score(const Problem<T>& p, float dot) {
    const float s = dot * p.scale;
    return p.cap > 0 ? tanhf(s / p.cap) : s;
  }
};

void run(const attention_forward::Args& a, const Launch& l) { run_plain<Wrong>(a, l); }

}  // namespace assay::ROOM(attention_forward, softcap_without_factor)
