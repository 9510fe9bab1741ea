// SPDX-License-Identifier: Apache-2.0
// FAULT: the inverse root is kept to 12 bits for one in four addresses of x, by a hash: the result depends on where x lies.
// Kind: cheats
// Shows: the same input, once more, at another address.
#include "cuda/rmsnorm/broken/plain.cuh"

namespace assay::ROOM(rmsnorm, precision_by_address) {

template <class T>
struct Steps : Plain<T> {
  __device__ static float inverse(const Rows<T>& m, float squares) {
    const float r = 1.0f / sqrtf(squares / static_cast<float>(m.cols) + m.epsilon);
    const std::uint64_t hash = reinterpret_cast<std::uintptr_t>(m.x) * 0x9e3779b97f4a7c15ull;
    return hash >> 62 == 3 ? of_12_bits(r) : r;
  }
};
KERNEL_FROM(rmsnorm, plain, Steps);

}  // namespace assay::ROOM(rmsnorm, precision_by_address)
