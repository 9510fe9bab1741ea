// SPDX-License-Identifier: Apache-2.0
// FAULT: as many rows of y are stored as a box of x has, a multiple of 8.
// Caught by: T4 on simt (out_of_bounds) or T2, tokens no multiple of 8.
#include "cuda/linear/broken/whole.cuh"

namespace assay::ROOM(linear, whole_box_for_tokens) {

struct Wrong : PlainWhole {
  template <class S>
  static hopper_whole::Work of(const Tensor& x, const Tensor& y) {
    auto work = PlainWhole::of<S>(x, y);
    work.tokens = work.rows;
    return work;
  }
};
KERNEL_FROM(linear, whole, Wrong);

}  // namespace assay::ROOM(linear, whole_box_for_tokens)
