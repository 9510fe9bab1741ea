// SPDX-License-Identifier: Apache-2.0
// Matrix products of attention's heads by cuBLASLt, as a library that knows no attention runs them.
#pragma once

#include "cuda/core/vendor/cublaslt.hpp"

namespace assay::vendor::cublaslt {

// y = scale·x·wᵀ, or scale·x·w, of every head; x and y have `heads` heads, which share those of w evenly.  One call for each
// sequence and for each of the query heads that share: the heads of w are a strided batch.
struct HeadProducts {
  Tensor x;  // [batch, seq_q, heads, k]
  Tensor w;  // [batch, n, kv_heads, k]; as it is, [batch, k, kv_heads, n]
  Tensor y;  // [batch, seq_q, heads, n]
  float scale = 1;
  bool as_it_is = false;
};
Legality supports(const HeadProducts&);
std::size_t workspace_bytes(const HeadProducts&);
void run(const HeadProducts&, const Launch&);

}  // namespace assay::vendor::cublaslt
