// SPDX-License-Identifier: Apache-2.0
// FAULT: ids are kept in 16 bits. Right for a vocabulary of up to 65,536 entries.
// Caught by: the comparison on ids_last and ids_backwards with a larger vocabulary.
#include "cuda/embedding/broken/plain.cuh"

namespace assay::ROOM(embedding, ids_of_16_bits) {

template <class T>
struct Wrong : Plain<T> {
  __device__ static std::int64_t id(const Rows<T>& m, std::int64_t token) {
    return static_cast<std::uint16_t>(ld(m.ids + token));
  }
};
KERNEL_FROM(embedding, plain, Wrong);

}  // namespace assay::ROOM(embedding, ids_of_16_bits)
