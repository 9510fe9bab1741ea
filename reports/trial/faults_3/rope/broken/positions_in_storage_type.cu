// SPDX-License-Identifier: Apache-2.0
// FAULT: positions are rounded to the type of the tensors, as by a range that was made in the model's type.
// Kind: precision
// Shows: f16 positions above 2048, bf16 positions above 256.
#include "cuda/rope/broken/plain.cuh"

namespace assay::ROOM(rope, positions_in_storage_type) {

template <class T>
struct RoundedPositions : Plain<T> {
  __device__ static Rotation rotation(const Problem<T>& p, int i, std::int64_t position) {
    const float rounded = to_float(from_float<T>(static_cast<float>(position)));
    return rotation_by(angle_of(p.step, i, static_cast<std::int64_t>(rounded)));
  }
};
KERNEL_FROM(rope, plain, RoundedPositions);

}  // namespace assay::ROOM(rope, positions_in_storage_type)
