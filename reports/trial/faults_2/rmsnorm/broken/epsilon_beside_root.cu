// SPDX-License-Identifier: Apache-2.0
// FAULT: in rows of more than 512 columns, which have an instance of their own, epsilon is added to the root mean square, not
// to the mean square.
// Kind: algorithm
// Shows: cols > 512 with an epsilon that is not tiny beside the mean square; in f32 the default.
#include "cuda/rmsnorm/broken/plain.cuh"

namespace assay::ROOM(rmsnorm, epsilon_beside_root) {

template <class T>
struct Steps : Plain<T> {
  __device__ static float inverse(const Rows<T>& m, float squares) {
    const float mean = squares / static_cast<float>(m.cols);
    return m.cols > 512 ? 1.0f / (sqrtf(mean) + m.epsilon) : 1.0f / sqrtf(mean + m.epsilon);
  }
};
KERNEL_FROM(rmsnorm, plain, Steps);

}  // namespace assay::ROOM(rmsnorm, epsilon_beside_root)
