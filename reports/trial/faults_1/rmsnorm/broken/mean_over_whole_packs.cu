// SPDX-License-Identifier: Apache-2.0
// FAULT: the sum of squares is divided by the columns rounded up to whole packs of four, as the loop counts them.
// Kind: algorithm
// Shows: cols that is no multiple of four.
#include "cuda/rmsnorm/broken/plain.cuh"

namespace assay::ROOM(rmsnorm, mean_over_whole_packs) {

template <class T>
struct Packs : Plain<T> {
  __device__ static float inverse(const Rows<T>& m, float squares) {
    return 1.0f / sqrtf(squares / static_cast<float>((m.cols + 3) / 4 * 4) + m.epsilon);
  }
};

KERNEL_FROM(rmsnorm, plain, Packs);

}  // namespace assay::ROOM(rmsnorm, mean_over_whole_packs)
