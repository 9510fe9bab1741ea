// SPDX-License-Identifier: Apache-2.0
// FAULT: tiles come by cp.async, and only the first is waited for before the barrier.
// Caught by: the finding that a copy in flight is read, or the bound, with more than 32 keys; right with one tile.
#include "cuda/attention_forward/broken/tiled.cuh"

namespace assay::ROOM(attention_forward, missing_wait) {

inline constexpr int kChannels = 8;  // of 16 bytes

template <class T>
struct Wrong : Tiled<T> {
  static constexpr int kLeastArch = 80;
  static Legality supports(const attention_forward::Args& a) {
    if (a.q.shape[3] % kChannels || !a.k.rows_aligned(16) || !a.v.rows_aligned(16)) return Legality::no("rows of whole 16 bytes");
    return fits_tiles(a);
  }
  static __device__ void load(const Problem<T>& p, const TilePair<T>& t, int key, int row) {
    const int there = key < p.keys ? key : 0, valid = key < p.keys ? 16 : 0;
    for (int c = 0; c < p.dim; c += kChannels) {
      cp_async<16>(t.k_tile + row * kTiledChannels + c, t.k + there * p.k.seq + c, valid);
      cp_async<16>(t.v_tile + row * kTiledChannels + c, t.v + there * p.v.seq + c, valid);
    }
    cp_async_commit();
  }
  static __device__ void arrived(int first) {
    if (first == 0) cp_async_wait<0>();
  }
};
KERNEL_FROM(attention_forward, tiled, Wrong);

}  // namespace assay::ROOM(attention_forward, missing_wait)
