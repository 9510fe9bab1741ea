// SPDX-License-Identifier: Apache-2.0
// FAULT: a row is taken to exist from position 1 on, so the first token of a fresh sequence is not stored.
// Kind: offsets
// Shows: a sequence whose length is at most seq_q: its position 0 is new.
#include "cuda/kv_append/broken/plain.cuh"

namespace assay::ROOM(kv_append, first_position_skipped) {

template <class T>
struct Skips : Plain<T> {
  __device__ static std::int64_t place(const Problem<T>& p, std::int64_t b, int row) {
    return ld(p.lengths + b) - p.rows + row <= 0 ? -1 : p.place(b, row);
  }
};

KERNEL_FROM(kv_append, plain, Skips);

}  // namespace assay::ROOM(kv_append, first_position_skipped)
