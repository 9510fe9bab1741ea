// SPDX-License-Identifier: Apache-2.0
// FAULT: id 1 is taken for padding, as in some vocabularies, whose row is zeros.
// Kind: algorithm
// Shows: an id of 1.
#include "cuda/embedding/broken/plain.cuh"

namespace assay::ROOM(embedding, padding_id_is_one) {

template <class T>
struct Padding : Plain<T> {
  __device__ static T element(const Rows<T>& m, std::int64_t id, std::int64_t h) {
    return id == 1 ? from_float<T>(0.0f) : ld(m.table + id * m.table_stride + h);
  }
};

KERNEL_FROM(embedding, plain, Padding);

}  // namespace assay::ROOM(embedding, padding_id_is_one)
