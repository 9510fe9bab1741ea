// SPDX-License-Identifier: Apache-2.0
// FAULT: eight tokens share mean and deviation of the first of them.
// Caught by: the bound, on rows that differ; several tokens.
#include "cuda/layernorm_linear/broken/plain.cuh"

namespace assay::ROOM(layernorm_linear, statistics_of_tile) {

template <class T>
struct Wrong : Formula<T> {
  static __device__ std::int64_t statistics_of(std::int64_t token) { return token / 8 * 8; }
};
KERNEL_FROM(layernorm_linear, plain, Wrong);

}  // namespace assay::ROOM(layernorm_linear, statistics_of_tile)
