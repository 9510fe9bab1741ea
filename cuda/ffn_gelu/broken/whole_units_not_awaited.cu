// SPDX-License-Identifier: Apache-2.0
// FAULT: of the second launch only the threads that multiply wait for the first, not the one that copies h.
// Caught by: T4 on simt (early_read).
#include "cuda/ffn_gelu/broken/whole.cuh"

namespace assay::ROOM(ffn_gelu, whole_units_not_awaited) {

struct Wrong : WholeSums {
  __device__ static void await_tokens() {}
};
KERNEL_FROM(ffn_gelu, whole, Wrong);

}  // namespace assay::ROOM(ffn_gelu, whole_units_not_awaited)
