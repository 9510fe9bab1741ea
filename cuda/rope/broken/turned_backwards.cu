// SPDX-License-Identifier: Apache-2.0
// FAULT: the sine has the other sign: the inverse rotation. Right at position 0, and for scores where q and k share it.
// Caught by: the comparison at any other position.
#include "cuda/rope/broken/plain.cuh"

namespace assay::ROOM(rope, turned_backwards) {

template <class T>
struct Wrong : Plain<T> {
  __device__ static Rotation rotation(const Problem<T>& p, int i, std::int64_t position) {
    const Rotation forwards = Plain<T>::rotation(p, i, position);
    return {forwards.cosine, -forwards.sine};
  }
};
KERNEL_FROM(rope, plain, Wrong);

}  // namespace assay::ROOM(rope, turned_backwards)
