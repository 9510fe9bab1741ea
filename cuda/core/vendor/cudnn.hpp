// SPDX-License-Identifier: Apache-2.0
// Softmax and attention by cuDNN 9.  Host side; not thread-safe.
#pragma once

#include <cstddef>

#include "ops/core/kernel.hpp"

namespace assay::vendor::cudnn {

Legality available();

// y = softmax(x) of each row, by the library's accurate algorithm, which subtracts the row's maximum.
struct Softmax {
  Tensor x, y;  // [rows, cols]
};
Legality supports(const Softmax&);
void run(const Softmax&, const Launch&);

enum class Mask { none, causal_bottom_right, causal_top_left };

// o = softmax(scale·q·kᵀ + mask)·v, lse = logsumexp of the rows of scale·q·kᵀ + mask.  q, k, v, o and the probabilities are f16
// or bf16, the rest is f32.
struct Attention {
  Tensor q, o;  // [batch, seq_q, heads, head_dim]
  Tensor k, v;  // [batch, seq_k, kv_heads, head_dim]
  Tensor lse;   // [batch, heads, seq_q], f32
  Mask mask = Mask::none;
  double scale = 1;
};
// Whether one of the library's fused engines takes it, which shows when the plan is built.
Legality supports(const Attention&);
std::size_t workspace_bytes(const Attention&);
void run(const Attention&, const Launch&);

// The gradients of q, k and v from that of o: P = exp(scale·q·kᵀ - lse) where visible, D = rowsum(do·o), dS = P·(do·vᵀ - D),
// dq = scale·dS·k, dk = scale·dSᵀ·q, dv = Pᵀ·do.  P and scale·dS are rounded to the dtype before they are multiplied.  dq is
// summed in f32 in workspace, in any order.  supports() refuses query heads that share keys.
struct AttentionGradient {
  Tensor q, o, d_o, dq;  // [batch, seq_q, heads, head_dim]
  Tensor k, v, dk, dv;   // [batch, seq_k, kv_heads, head_dim]
  Tensor lse;            // [batch, heads, seq_q], f32
  Mask mask = Mask::none;
  double scale = 1;
};
Legality supports(const AttentionGradient&);
std::size_t workspace_bytes(const AttentionGradient&);
void run(const AttentionGradient&, const Launch&);

}  // namespace assay::vendor::cudnn
