// SPDX-License-Identifier: Apache-2.0
// FAULT: epsilon is rounded to the storage dtype: 1e-12 is 0 in f16, and 1e-5 errs by 0.14 %.  In bf16 the output's own
// rounding hides its eight bits: f16 only.
// Caught by: NaN on rows of zeros with an epsilon of 1e-12; the bound of y where 1e-5 is most of what is under the root
// (tiny_rows, zero_rows).
#include "cuda/residual_rmsnorm/broken/plain.cuh"

namespace assay::ROOM(residual_rmsnorm, narrow_epsilon) {

template <class T>
struct Wrong : Plain<T> {
  static __device__ float epsilon(const Rows<T>& m) { return to_float(from_float<T>(m.epsilon)); }
};
KERNEL_FROM(residual_rmsnorm, plain, Wrong, {f16});

}  // namespace assay::ROOM(residual_rmsnorm, narrow_epsilon)
