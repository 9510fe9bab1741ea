// SPDX-License-Identifier: Apache-2.0
// FAULT: targets are kept in 16 bits. Right for a vocabulary of up to 65,536 entries.
// Caught by: the bound on last_class with a larger vocabulary.
#include "cuda/cross_entropy/broken/plain.cuh"

namespace assay::ROOM(cross_entropy, target_of_16_bits) {

template <class T>
struct Wrong : Plain<T> {
  __device__ static std::int64_t target(const std::int32_t* targets, std::int64_t token) {
    return static_cast<std::uint16_t>(ld(targets + token));
  }
};
KERNEL_FROM(cross_entropy, plain, Wrong);

}  // namespace assay::ROOM(cross_entropy, target_of_16_bits)
