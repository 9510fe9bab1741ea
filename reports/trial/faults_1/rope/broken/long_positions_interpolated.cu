// SPDX-License-Identifier: Apache-2.0
// FAULT: positions from 4096 on are halved, as if a model were stretched to twice its length.
// Kind: algorithm
// Shows: a position of 4096 or more.
#include "cuda/rope/broken/plain.cuh"

namespace assay::ROOM(rope, long_positions_interpolated) {

template <class T>
struct Stretched : Plain<T> {
  __device__ static Rotation rotation(const Problem<T>& p, int i, std::int64_t position) {
    return rotation_by(angle_of(p.step, i, position) * (position >= 4096 ? 0.5 : 1.0));
  }
};

KERNEL_FROM(rope, plain, Stretched);

}  // namespace assay::ROOM(rope, long_positions_interpolated)
