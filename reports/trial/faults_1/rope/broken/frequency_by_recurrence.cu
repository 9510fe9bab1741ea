// SPDX-License-Identifier: Apache-2.0
// FAULT: the frequency of a pair is the one before times a ratio, in f32, so it is off by an ulp more for each pair;
// frequencies in f64 are declared.
// Kind: precision
// Shows: a large position, and a pair with many before it.
#include "cuda/rope/broken/plain.cuh"

namespace assay::ROOM(rope, frequency_by_recurrence) {

template <class T>
struct Recurrence : Plain<T> {
  __device__ static Rotation rotation(const Problem<T>& p, int i, std::int64_t position) {
    const float ratio = static_cast<float>(exp2(-p.step));
    float frequency = 1;
    for (int j = 0; j < i; ++j) frequency *= ratio;
    return rotation_by(static_cast<double>(position) * frequency);
  }
};

KERNEL_FROM(rope, plain, Recurrence);

}  // namespace assay::ROOM(rope, frequency_by_recurrence)
