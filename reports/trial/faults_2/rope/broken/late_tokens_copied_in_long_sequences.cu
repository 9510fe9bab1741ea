// SPDX-License-Identifier: Apache-2.0
// FAULT: in sequences of more than 512 tokens those from 512 on are copied without being turned, which saves their sines.
// Kind: cheats
// Shows: seq_q > 512.
#include "cuda/rope/broken/plain.cuh"

namespace assay::ROOM(rope, late_tokens_copied_in_long_sequences) {

template <class T>
struct Steps : Plain<T> {
  __device__ static Rotation rotation(const Problem<T>& p, int i, std::int64_t position) {
    const bool late = static_cast<std::int64_t>(blockIdx.x) % p.seq >= 512;
    if (late) return {1.0f, 0.0f};
    return rotation_by(angle_of(p.step, i, position));
  }
};
KERNEL_FROM(rope, plain, Steps);

}  // namespace assay::ROOM(rope, late_tokens_copied_in_long_sequences)
