// SPDX-License-Identifier: Apache-2.0
// FAULT: the target of the token before, as where labels are shifted twice. Right for one token, and for equal targets.
// Caught by: the exact probe probe_far, and the bound on any random input of several tokens.
#include "cuda/cross_entropy/broken/plain.cuh"

namespace assay::ROOM(cross_entropy, target_of_neighbour) {

template <class T>
struct Wrong : Plain<T> {
  __device__ static std::int64_t target(const std::int32_t* targets, std::int64_t token) {
    return ld(targets + (token > 0 ? token - 1 : 0));
  }
};
KERNEL_FROM(cross_entropy, plain, Wrong);

}  // namespace assay::ROOM(cross_entropy, target_of_neighbour)
