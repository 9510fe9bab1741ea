// SPDX-License-Identifier: Apache-2.0
// The plain kernel, its products and sums rounded to bf16, as declared.
#include "cuda/linear/variants/narrow_sums.cuh"

namespace assay::ROOM(linear, bfloat_sums) {

template <class T>
struct Steps : Narrow<bfloat16, T> {};
KERNEL_DECLARING(linear, plain, Steps, (Numerics{.accumulate = bf16, .chain = {.lanes = 1}}), {bf16});

}  // namespace assay::ROOM(linear, bfloat_sums)
