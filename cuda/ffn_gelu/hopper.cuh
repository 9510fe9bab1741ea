// SPDX-License-Identifier: Apache-2.0
// Shared by the kernels for Hopper: what they declare and take.  h, the units, is in workspace, rounded to the dtype.
#pragma once

#include "cuda/core/hopper_epilogue.cuh"
#include "cuda/core/product.cuh"
#include "ops/ffn_gelu.hpp"

namespace assay::ASSAY_FLAVOUR::ffn_gelu_room {

constexpr Numerics hopper_numerics() {
  Numerics n = hopper_gemm::kWithGelu;
  n.stores = "h";
  return n;
}

// takes: hopper_gemm::takes or takes_few.  The rows of h must be whole pieces of 16 bytes too, since boxes of them are copied.
template <auto takes>
Legality hopper_takes(const ffn_gelu::Args& a) {
  if (a.w1.shape[0] % 8 != 0) return Legality::no("needs a multiple of 8 units");
  const Legality first = takes({&a.x, &a.w1}, a.y, a.b1.data);
  return first.ok ? takes({&a.w2}, a.y, a.b2.data) : first;
}

inline std::size_t bytes_of_units(const ffn_gelu::Args& a) {
  return product::workspace_bytes(a.x.shape[0], a.w1.shape[0], a.x.dtype);
}
inline Tensor units_in(void* workspace, const ffn_gelu::Args& a) {
  return product::in_workspace(workspace, a.x.dtype, a.x.shape[0], a.w1.shape[0]);
}

}  // namespace assay::ASSAY_FLAVOUR::ffn_gelu_room
