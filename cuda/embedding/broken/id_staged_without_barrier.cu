// SPDX-License-Identifier: Apache-2.0
// FAULT: for wide rows the first thread reads the id and leaves it in shared memory, from where the others take it without a
// barrier.
// Kind: memory
// Caught by: out_of_bounds, with tokens=7 hidden=515 vocab=17 (f16).
#include "cuda/embedding/broken/plain.cuh"

namespace assay::ROOM(embedding, id_staged_without_barrier) {

template <class T>
struct Wrong : Plain<T> {
  static constexpr std::size_t kSharedBytes = sizeof(std::int32_t);
  __device__ static std::int64_t id(const Rows<T>& m, std::int64_t token) {
    if (m.hidden <= kPlainThreads) return Plain<T>::id(m, token);
    auto* const staged = shared_memory<std::int32_t>();
    if (threadIdx.x == 0) st(staged, ld(m.ids + token));
    return ld(staged);
  }
};
KERNEL_FROM(embedding, plain, Wrong);

}  // namespace assay::ROOM(embedding, id_staged_without_barrier)
