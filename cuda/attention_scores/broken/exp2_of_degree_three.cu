// SPDX-License-Identifier: Apache-2.0
// FAULT: exp by a polynomial of degree 3, as where the exp units are the bottleneck: good to 8.8e-5, and not declared.
// Kind: precision
// Caught by: the bound, with batch=1 seq_q=3 seq_k=70 heads=2 kv_heads=2 head_dim=32 scale=0.03125 (f16).
#include "cuda/attention_scores/broken/plain.cuh"

namespace assay::ROOM(attention_scores, exp2_of_degree_three) {

template <class T>
struct Wrong : Plain<T> {
  static __device__ float exponential(float v) {
    const float t = v * 1.44269504f;
    if (!(t > -126.0f)) return t != t ? t : 0.0f;
    const float whole = floorf(t), f = t - whole;
    return ldexpf(fmaf(f, fmaf(f, fmaf(f, 0.07711909f, 0.2275644f), 0.69514614f), 1.0f), static_cast<int>(whole));
  }
};
KERNEL_FROM(attention_scores, plain, Wrong, {f16, bf16});

}  // namespace assay::ROOM(attention_scores, exp2_of_degree_three)
