// SPDX-License-Identifier: Apache-2.0
// Matrix products by cuBLASLt.  Host side; one thread.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ops/core/kernel.hpp"

namespace assay::vendor::cublaslt {

enum class Activation { none, gelu_tanh };  // the library's GELU is the tanh form

// y = activation(scale·x·wᵀ + bias), accumulated in f32 (no TF32); rows may be apart, their elements may not.
struct Matmul {
  Tensor x;     // [m, k]
  Tensor w;     // [n, k]; as it is, [k, n]
  Tensor bias;  // [n], or no data
  Tensor y;     // [m, n]
  Activation activation = Activation::none;
  float scale = 1;
  bool as_it_is = false;  // y = scale·x·w
  // That many products, each so many elements from the one before.
  struct Batch {
    std::int64_t count = 1, x = 0, w = 0, y = 0;
  } batch{};
};

Legality available();
// Whether the library has an algorithm for it: asked of its heuristics, for these strides and alignments.
Legality supports(const Matmul&);
// What the largest of those algorithms needs, at most kMostWorkspace.
inline constexpr std::size_t kMostWorkspace = std::size_t{32} << 20;
std::size_t workspace_bytes(const Matmul&);
// Runs it with the fastest of up to 8 algorithms: timed at the first launch of a shape that is not being captured.
void run(const Matmul&, const Launch&);

}  // namespace assay::vendor::cublaslt
