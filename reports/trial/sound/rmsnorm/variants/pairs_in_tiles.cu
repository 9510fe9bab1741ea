// SPDX-License-Identifier: Apache-2.0
// A row a block, by tiles of 256 columns, two neighbours a thread: their squares in a pair, then the block's tree, then tile
// after
// tile.  So 256 lanes, and eight levels (one, five and two) that join them.
#include "cuda/rmsnorm/broken/plain.cuh"

namespace assay::ROOM(rmsnorm, pairs_in_tiles) {

template <class T>
struct Pairs : Plain<T> {
  template <class F>
  __device__ static float squares(const Rows<T>& m, const T* x) {
    float all = 0;
    for (std::int64_t first = 0; first < m.cols; first += 2 * kPlainThreads) {
      const std::int64_t c = first + 2 * static_cast<std::int64_t>(threadIdx.x);
      const float v = c < m.cols ? to_float(ld(x + c)) : 0.0f, w = c + 1 < m.cols ? to_float(ld(x + c + 1)) : 0.0f;
      all += block_sum(fmaf(v, v, w * w), shared_memory<float>());
    }
    return all;
  }
};
KERNEL_DECLARING(rmsnorm, plain, Pairs, (Numerics{.accumulate = f32, .chain = {.lanes = 2 * kPlainThreads, .extra = 1 + 5 + 2}}));

}  // namespace assay::ROOM(rmsnorm, pairs_in_tiles)
