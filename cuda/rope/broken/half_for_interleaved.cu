// SPDX-License-Identifier: Apache-2.0
// FAULT: channel i is paired with i + rotary_dim/2 whatever the layout, as where a checkpoint is not permuted.
// Caught by: the comparison with layout_of_pairs=interleaved; on one_channel by where the zeros are.
#include "cuda/rope/broken/plain.cuh"

namespace assay::ROOM(rope, half_for_interleaved) {

template <class T>
struct Wrong : Plain<T> {
  static void change(Problem<T>& p) { p.interleaved = false; }
};
KERNEL_FROM(rope, plain, Wrong);

}  // namespace assay::ROOM(rope, half_for_interleaved)
