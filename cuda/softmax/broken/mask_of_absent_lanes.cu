// SPDX-License-Identifier: Apache-2.0
// FAULT: eight lanes take a row; those of rows that do not exist return, and the others' shuffles name all 32 lanes all the
// same.
// Kind: memory
// Caught by: bad_shuffle, with rows=1 cols=1 (f16).
#include "cuda/softmax/broken/plain.cuh"

namespace assay::ROOM(softmax, mask_of_absent_lanes) {

template <class T>
struct Wrong : Plain<T> {
  static constexpr int kLanes = 8, kExtra = 3;
  static constexpr std::size_t kSharedBytes = 0;
  static __device__ float group_max(float v) {
    for (int offset = kLanes / 2; offset > 0; offset /= 2) v = fmaxf(v, shuffle_xor(v, offset));
    return v;
  }
  static __device__ float group_sum(float v) {
    for (int offset = kLanes / 2; offset > 0; offset /= 2) v += shuffle_xor(v, offset);
    return v;
  }
};
KERNEL_FROM(softmax, plain, Wrong);

}  // namespace assay::ROOM(softmax, mask_of_absent_lanes)
