// SPDX-License-Identifier: Apache-2.0
// FAULT: several new tokens are multiplied with all values that the newest one sees.
// Caught by: the class of O, seq_q above 1 and a NaN or an infinity among the newest values; right on all finite inputs.
#include "cuda/paged_attention/broken/pages.cuh"

namespace assay::ROOM(paged_attention, pages_hidden_values_leak) {

struct Wrong : PagesSteps {
  __device__ static int first_apart(int /*first*/, int last) { return last; }
  __device__ static bool apart(int /*query*/, int /*one*/) { return true; }
};
KERNEL_FROM(paged_attention, pages, Wrong);

}  // namespace assay::ROOM(paged_attention, pages_hidden_values_leak)
