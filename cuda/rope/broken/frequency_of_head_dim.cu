// SPDX-License-Identifier: Apache-2.0
// FAULT: frequencies are spread over head_dim. Right where all of the head turns.
// Caught by: the comparison with a rotary_dim that is less.
#include "cuda/rope/broken/plain.cuh"

namespace assay::ROOM(rope, frequency_of_head_dim) {

template <class T>
struct Wrong : Plain<T> {
  static void change(Problem<T>& p) { p.step *= static_cast<double>(p.rotary) / p.dim; }
};
KERNEL_FROM(rope, plain, Wrong);

}  // namespace assay::ROOM(rope, frequency_of_head_dim)
