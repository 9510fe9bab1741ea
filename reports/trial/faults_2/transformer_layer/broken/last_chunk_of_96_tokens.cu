// SPDX-License-Identifier: Apache-2.0
// FAULT: the feed-forward part runs in chunks of 96 tokens; the last chunk has tokens % 96 of them, which is none where 96
// divides the tokens.
// Kind: offsets
// Shows: 96, 192, ... tokens: the activations of the last 96 are not written.
#include "cuda/transformer_layer/broken/plain.cuh"

namespace assay::ROOM(transformer_layer, last_chunk_of_96_tokens) {

class Chunked : public Layer {
 public:
  using Layer::Layer;
  void widen() override {
    constexpr std::int64_t kChunk = 96;
    const std::int64_t ffn = a.w_up.shape[0], hidden = a.x.shape[2];
    const Tensor up_room = steps.room(a.x.dtype, {kChunk, ffn}), gate_room = steps.room(a.x.dtype, {kChunk, ffn});
    const std::int64_t chunks = ceil_div(tokens, kChunk);
    for (std::int64_t i = 0; i < chunks; ++i) {
      const std::int64_t count = i + 1 < chunks ? kChunk : tokens % kChunk;
      if (count == 0) continue;
      const auto part = [&](const Tensor& t, std::int64_t cols) {
        char* const first = static_cast<char*>(t.data) + (t.data ? i * kChunk * cols * size_of(t.dtype) : 0);
        return dense(first, t.dtype, {count, cols});
      };
      const auto in_room = [&](const Tensor& t) { return dense(t.data, t.dtype, {count, ffn}); };
      const Tensor x = part(a.norm2, hidden), act = part(a.act, ffn), up = in_room(up_room), gate = in_room(gate_room);
      const auto multiply = [&](const Tensor& weight, const Tensor& bias, const Tensor& y) {
        steps(product(), {.x = x, .weight = matrix(weight, ffn), .bias = vector(bias), .y = y, .has_bias = bias.rank != 0});
      };
      multiply(a.w_up, llama ? Tensor{} : a.b_up, up);
      if (llama) {
        multiply(a.w_gate, {}, gate);
        steps(KERNEL_OF(silu_mul, vector16), {.gate = gate, .up = up, .y = act});
      } else {
        steps(KERNEL_OF(gelu, vector16), {.x = up, .y = act, .form = form()});
      }
    }
  }
};

KERNEL_FROM(transformer_layer, plain, Chunked);

}  // namespace assay::ROOM(transformer_layer, last_chunk_of_96_tokens)
