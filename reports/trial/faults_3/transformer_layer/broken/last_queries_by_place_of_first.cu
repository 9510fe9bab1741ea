// SPDX-License-Identifier: Apache-2.0
// FAULT: sequences longer than 96 are attended in two parts, and the second part begins its causal mask as if it were the
// first.
// Kind: offsets
// Shows: seq_q above 96.
#include "cuda/transformer_layer/broken/plain.cuh"

namespace assay::ROOM(transformer_layer, last_queries_by_place_of_first) {

class TwoParts : public Layer {
 public:
  using Layer::Layer;
  void attend() override {
    attention_forward::Args all = attention(a.q, a.k, a.v);
    const std::int64_t seq = a.q.shape[1], half = 96;
    if (seq <= half) return steps(KERNEL_OF(attention_forward, naive), all);
    const auto part = [&](std::int64_t first, std::int64_t count, auto mask) {
      attention_forward::Args p = all;
      for (Tensor* t : {&p.q, &p.o}) {
        if (t->data) t->data = static_cast<char*>(t->data) + first * t->stride[1] * size_of(t->dtype);
        t->shape[1] = count;
      }
      p.lse.shape[2] = count;
      p.mask = mask;
      steps(KERNEL_OF(attention_forward, naive), p);
    };
    part(0, half, attention_forward::Mask::causal_top_left);
    part(half, seq - half, attention_forward::Mask::causal_top_left);
  }
  static Numerics numerics(const Args& a, int output) {
    if (output == transformer_layer::kO) return KERNEL_OF(attention_forward, naive).traits.numerics;
    return Layer::numerics(a, output);
  }
};
KERNEL_FROM(transformer_layer, plain, TwoParts);

}  // namespace assay::ROOM(transformer_layer, last_queries_by_place_of_first)
