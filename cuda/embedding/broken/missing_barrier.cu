// SPDX-License-Identifier: Apache-2.0
// FAULT: thread 0 fetches the id for its block, and nobody waits for it: other warps take the id that was there before.
// Right on one warp.
// Caught by: simt, where the threads of a block come in several orders: an id from memory that nobody wrote leads anywhere.
#include "cuda/embedding/broken/plain.cuh"

namespace assay::ROOM(embedding, missing_barrier) {

template <class T>
struct Wrong : Plain<T> {
  static constexpr std::size_t kSharedBytes = sizeof(std::int32_t);
  __device__ static std::int64_t id(const Rows<T>& m, std::int64_t token) {
    std::int32_t* const shared_id = shared_memory<std::int32_t>();
    if (threadIdx.x == 0) st(shared_id, ld(m.ids + token));
    return ld(shared_id);
  }
};
KERNEL_FROM(embedding, plain, Wrong);

}  // namespace assay::ROOM(embedding, missing_barrier)
