// SPDX-License-Identifier: Apache-2.0
// FAULT: how many tiles of 32 keys are summed is computed from the first query of a block of four and rounded up, so a later
// query that sees one more tile misses its keys.
// Kind: offsets
// Shows: causal, where the limit of visible keys passes a multiple of 32 within four queries.
#include "cuda/attention_scores/broken/plain.cuh"

namespace assay::ROOM(attention_scores, key_tiles_of_first_query) {

template <class T>
struct Tiled : Plain<T> {
  static __device__ std::int64_t seen(const Problem<T>& m, std::int64_t query) {
    const std::int64_t visible = m.visible(query), tiles = (m.visible(query / 4 * 4) + 31) / 32 * 32;
    return visible < tiles ? visible : tiles;
  }
};

KERNEL_FROM(attention_scores, plain, Tiled);

}  // namespace assay::ROOM(attention_scores, key_tiles_of_first_query)
