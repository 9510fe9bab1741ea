// SPDX-License-Identifier: Apache-2.0
// Matrix products of the heads of attention by cuBLASLt, for attention without a fused library kernel.
#pragma once

#include "cuda/core/vendor/cublaslt.hpp"

namespace assay::vendor::cublaslt {

// y = scale·x·wᵀ, or scale·x·w, for every head.  x and y have `heads` heads, which share those of w evenly.  A call takes one
// sequence and, of each group of heads that share, the g-th; the heads of w are its strided batch.
struct HeadProducts {
  Tensor x;  // [batch, seq_q, heads, k]
  Tensor w;  // [batch, n, kv_heads, k], or [batch, k, kv_heads, n] if as_it_is
  Tensor y;  // [batch, seq_q, heads, n]
  float scale = 1;
  bool as_it_is = false;
};
Legality supports(const HeadProducts&);
std::size_t workspace_bytes(const HeadProducts&);
void run(const HeadProducts&, const Launch&);

}  // namespace assay::vendor::cublaslt
