// SPDX-License-Identifier: Apache-2.0
// FAULT: the second product takes whole steps of 32 units and leaves the rest out. Right where 32 divides ffn.
// Caught by: the comparison where it does not.
#include "cuda/ffn_gelu/broken/plain.cuh"

namespace assay::ROOM(ffn_gelu, last_units_dropped) {

template <class T>
struct Wrong : Plain<T> {
  static std::int64_t units(std::int64_t ffn) { return ffn / 32 * 32; }
};
KERNEL_FROM(ffn_gelu, plain, Wrong);

}  // namespace assay::ROOM(ffn_gelu, last_units_dropped)
