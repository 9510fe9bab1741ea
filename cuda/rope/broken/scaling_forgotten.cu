// SPDX-License-Identifier: Apache-2.0
// FAULT: frequencies are those by base though a table is given: right for the pairs that a model does not scale.
// Caught by: the comparison with frequencies=given.
#include "cuda/rope/broken/plain.cuh"

namespace assay::ROOM(rope, scaling_forgotten) {

template <class T>
struct Wrong : Plain<T> {
  static void change(Problem<T>& p) { p.frequencies = nullptr; }
};
KERNEL_FROM(rope, plain, Wrong);

}  // namespace assay::ROOM(rope, scaling_forgotten)
