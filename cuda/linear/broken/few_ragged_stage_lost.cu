// SPDX-License-Identifier: Apache-2.0
// FAULT: channels are divided among stages and the rest of the division is dropped.
// Caught by: T1, more channels than a stage has, and no multiple of them.
#include "cuda/linear/broken/few.cuh"

namespace assay::ROOM(linear, few_ragged_stage_lost) {

struct Wrong : PlainFew {
  template <class S>
  static hopper_few::Work of(const Tensor& x, const Tensor& y) {
    auto work = PlainFew::of<S>(x, y);
    work.steps = std::max(1, static_cast<int>(x.shape[1]) / S::kDeep);
    return work;
  }
};
KERNEL_FROM(linear, few, Wrong);

}  // namespace assay::ROOM(linear, few_ragged_stage_lost)
