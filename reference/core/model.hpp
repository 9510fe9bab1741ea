// SPDX-License-Identifier: Apache-2.0
// The golden decoder: token ids to logits in f64, one sequence at a time, without pages, from the goldens of its steps.
//
//   gpt2     x = embedding + position;  x += attention(layernorm x);  x += gelu mlp(layernorm x)        biases everywhere
//   gptneox  the same without positions, rope on a part of each head;  parallel: both branches read x
//   llama    x += attention(rmsnorm x), rope;  x += (silu(gate) up) w_down, gate and up of rmsnorm x
//
// Logits are the last norm's output times the head.  (Radford et al. 2019; Black et al. 2022, arXiv 2204.06745; Touvron et al.
// 2023, arXiv 2302.13971.)
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "ops/core/activation.hpp"
#include "ops/core/tensor.hpp"

namespace assay::reference {

// The facts and the weights of a decoder, in host memory.  A weight that a model lacks is absent.
struct Decoder {
  enum class Family : std::uint8_t { gpt2, gptneox, llama };
  struct Layer {
    Tensor gamma1, beta1;   // [hidden]
    Tensor wq, wk, wv;      // [heads * head_dim, hidden]; k, v: of kv_heads
    Tensor bq, bk, bv;      // [heads * head_dim]; k, v: of kv_heads
    Tensor wo, bo;          // [hidden, heads * head_dim], [hidden]
    Tensor gamma2, beta2;   // [hidden]
    Tensor w_gate;          // [ffn, hidden], llama only
    Tensor w_up, b_up;      // [ffn, hidden], [ffn]
    Tensor w_down, b_down;  // [hidden, ffn], [hidden]
  };
  Family family = Family::llama;
  std::int64_t hidden = 0, heads = 0, kv_heads = 0, head_dim = 0, ffn = 0, vocab = 0;
  std::int64_t positions = 0;  // how many a sequence may have
  double epsilon = 1e-5, rope_base = 10000;
  double rotary_dim = 0;  // channels of a head that rotate; gpt2: 0
  Tensor frequencies;     // [head_dim], f32, of rope if they are scaled; absent: by rope_base
  bool parallel = false;  // gptneox: both branches read the layer's input
  Activation activation = Activation::silu;
  Tensor embedding;           // [vocab, hidden]
  Tensor position_embedding;  // [positions, hidden], gpt2 only
  Tensor gamma, beta;         // [hidden], of the last norm
  Tensor head;                // [vocab, hidden]
  std::vector<Layer> layers;

  bool rotates() const { return family != Family::gpt2; }
  bool rms() const { return family == Family::llama; }
};

// Gets the output of each step: the layer, -1 before the layers and their number behind them, the name, the values [tokens, ...].
using Seen = std::function<void(std::int64_t layer, std::string_view name, std::span<const double>)>;

// Logits [tokens, vocab].  Each token must be one of the vocabulary, and there may be no more than `positions`.
std::vector<double> logits(const Decoder&, std::span<const std::int32_t> tokens, const Seen& seen = {});

}  // namespace assay::reference
