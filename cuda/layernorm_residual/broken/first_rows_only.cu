// SPDX-License-Identifier: Apache-2.0
// FAULT: rows beyond 128 are left to a second launch that nobody makes: only the first batch is computed.
// Caught by: T1, and T4 by the two garbage patterns in y; more than 128 rows.
#include "cuda/layernorm_residual/broken/plain.cuh"

namespace assay::ROOM(layernorm_residual, first_rows_only) {

template <class T>
struct Wrong : Plain<T> {
  static dim3 grid(const Rows<T>& m) { return dim3(std::min<std::int64_t>(m.rows, 128)); }
};
KERNEL_FROM(layernorm_residual, plain, Wrong);

}  // namespace assay::ROOM(layernorm_residual, first_rows_only)
