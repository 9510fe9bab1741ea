// SPDX-License-Identifier: Apache-2.0
// FAULT: channels are divided among stages and the rest of the division is dropped.
// Caught by: T1, more channels than a stage has, and no multiple of them.
#include "cuda/linear/broken/whole.cuh"

namespace assay::ROOM(linear, whole_ragged_stage_lost) {

struct Wrong : PlainWhole {
  template <class S>
  static hopper_whole::Work of(const Tensor& x, const Tensor& y) {
    auto work = PlainWhole::of<S>(x, y);
    work.steps = std::max(1, static_cast<int>(x.shape[1]) / S::kDeep);
    return work;
  }
};
KERNEL_FROM(linear, whole, Wrong);

}  // namespace assay::ROOM(linear, whole_ragged_stage_lost)
