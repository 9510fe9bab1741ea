// SPDX-License-Identifier: Apache-2.0
// FAULT: of a long sequence only the first 64 and the newest 448 positions are attended to.
// Kind: cheats
// Shows: a sequence of more than 512 positions.
#include "cuda/paged_attention/broken/plain.cuh"

namespace assay::ROOM(paged_attention, first_and_newest_only) {

template <class T>
struct Sinks : Plain<T> {
  static __device__ bool counts(const Paged<T>&, std::int64_t /*page*/, int key, int visible) {
    return key < 64 || key >= visible - 448;
  }
};

KERNEL_FROM(paged_attention, plain, Sinks);

}  // namespace assay::ROOM(paged_attention, first_and_newest_only)
