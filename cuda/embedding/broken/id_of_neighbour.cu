// SPDX-License-Identifier: Apache-2.0
// FAULT: the id of the token before, as where labels are shifted once too often. Right for one token, and for equal ids.
// Caught by: the comparison on probe_ids, and on any random table of several rows.
#include "cuda/embedding/broken/plain.cuh"

namespace assay::ROOM(embedding, id_of_neighbour) {

template <class T>
struct Wrong : Plain<T> {
  __device__ static std::int64_t id(const Rows<T>& m, std::int64_t token) { return ld(m.ids + (token > 0 ? token - 1 : 0)); }
};
KERNEL_FROM(embedding, plain, Wrong);

}  // namespace assay::ROOM(embedding, id_of_neighbour)
