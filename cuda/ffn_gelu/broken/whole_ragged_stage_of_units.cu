// SPDX-License-Identifier: Apache-2.0
// FAULT: the second product divides the units among stages and drops the rest of the division.
// Caught by: T1, more units than a stage has, and no multiple of them.
#include "cuda/ffn_gelu/broken/whole.cuh"

namespace assay::ROOM(ffn_gelu, whole_ragged_stage_of_units) {

struct Wrong : WholeSums {
  template <class S>
  static hopper_whole::Work of(const Tensor& x, const Tensor& y) {
    auto work = WholeSums::of<S>(x, y);
    work.steps = std::max(1, static_cast<int>(x.shape[1]) / S::kDeep);
    return work;
  }
};
KERNEL_FROM(ffn_gelu, whole, Wrong);

}  // namespace assay::ROOM(ffn_gelu, whole_ragged_stage_of_units)
