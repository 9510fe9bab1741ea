// SPDX-License-Identifier: Apache-2.0
// FAULT: the boxes of x lie behind those of the weights, so that wgmma's rows beyond the tokens are those of the next stage.
// Caught by: T4 on simt (in_flight), tokens below 57.
#include "cuda/linear/broken/whole.cuh"

namespace assay::ROOM(linear, whole_rows_of_next_stage) {

struct Wrong : PlainWhole {
  template <class S>
  static hopper_whole::Work of(const Tensor& x, const Tensor& y) {
    auto work = PlainWhole::of<S>(x, y);
    work.x_at = work.bytes - work.w_at;
    work.w_at = 0;
    return work;
  }
};
KERNEL_FROM(linear, whole, Wrong);

}  // namespace assay::ROOM(linear, whole_rows_of_next_stage)
