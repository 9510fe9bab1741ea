// SPDX-License-Identifier: Apache-2.0
// The plain kernel, its products and sums rounded to f16, as declared.
#include "cuda/linear/variants/narrow_sums.cuh"

namespace assay::ROOM(linear, half_sums) {

template <class T>
struct Steps : Narrow<half, T> {};
KERNEL_DECLARING(linear, plain, Steps, (Numerics{.accumulate = f16, .chain = {.lanes = 1}}), {f16});

}  // namespace assay::ROOM(linear, half_sums)
