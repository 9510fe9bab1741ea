// SPDX-License-Identifier: Apache-2.0
// Matrix products by cuBLASLt.  Host side; not thread-safe.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "ops/core/kernel.hpp"

namespace assay::vendor::cublaslt {

enum class Activation { none, gelu_tanh };  // the library's GELU is the tanh form
// Its relative error, in units of 2^-24.  Note: cuBLASLt does not document how it computes GELU.  Assumed as in published
// kernels: z/2 (1 + tanh) with tanh.approx.f32, whose relative error is 2^-11 (PTX ISA).
inline constexpr double kGeluError = 0x1p13;

// y = activation(scale·x·wᵀ + bias), accumulated in f32 (no TF32).  Rows may be padded; their elements must be contiguous.
struct Matmul {
  Tensor x;     // [m, k]
  Tensor w;     // [n, k], or [k, n] if as_it_is
  Tensor bias;  // [n], or no data
  Tensor y;     // [m, n]
  Activation activation = Activation::none;
  float scale = 1;
  bool as_it_is = false;  // y = scale·x·w
  // `count` products; x, w and y are the distances in elements from one to the next.
  struct Batch {
    std::int64_t count = 1, x = 0, w = 0, y = 0;
  } batch{};
};

Legality available();
// Whether the library's heuristics propose an algorithm for these shapes, strides and alignments.
Legality supports(const Matmul&);
// The bytes that the largest of those algorithms needs, at most kMostWorkspace.
inline constexpr std::size_t kMostWorkspace = std::size_t{32} << 20;
std::size_t workspace_bytes(const Matmul&);
// The same of two products that run one after the other.
inline Legality supports(const Matmul& first, const Matmul& second) {
  const Legality one = supports(first);
  return one ? supports(second) : one;
}
inline std::size_t workspace_bytes(const Matmul& first, const Matmul& second) {
  return std::max(workspace_bytes(first), workspace_bytes(second));
}
// Runs the fastest of up to 8 algorithms, timed at the first launch of a shape outside graph capture.  Throws std::runtime_error.
void run(const Matmul&, const Launch&);

}  // namespace assay::vendor::cublaslt
