// SPDX-License-Identifier: Apache-2.0
// FAULT: query head i reads key/value head i % kv_heads, not i / (heads / kv_heads).
// Caught by: the bound of stage o, with 1 < kv_heads < heads.
#include "cuda/transformer_layer/broken/plain.cuh"

namespace assay::ROOM(transformer_layer, heads_interleaved) {

struct Wrong final : Layer {
  using Layer::Layer;
  void attend() override {
    const std::int64_t kv_heads = a.k.shape[2], groups = a.q.shape[2] / kv_heads;
    for (std::int64_t g = 0; g < groups; ++g) {
      attention_forward::Args some = attention(a.q, a.k, a.v);
      for (Tensor* t : {&some.q, &some.o}) {
        t->data = static_cast<char*>(t->data) + g * kv_heads * a.q.shape[3] * size_of(t->dtype);
        t->shape[2] = kv_heads;
      }
      some.lse = steps.room(f32, {a.q.shape[0], kv_heads, a.q.shape[1]});
      steps(KERNEL_OF(attention_forward, unfused), some);
    }
  }
};
KERNEL_FROM(transformer_layer, plain, Wrong);

}  // namespace assay::ROOM(transformer_layer, heads_interleaved)
