// SPDX-License-Identifier: Apache-2.0
// Families of kernels that share the steps of one.  cuda/OP/broken/plain.cuh spells a plain kernel of its room out in steps:
//   template <class T> struct Plain {...};                            every step as it should be
//   template <template <class> class S> constexpr KernelTraits<OP> plain_traits(DTypes);   what the kernel of the steps S
//   declares template <template <class> class S> void run_plain(const OP::Args&, const Launch&);    launches it
// A broken kernel, or a variant that is right, is then no more than the step that it does otherwise:
//   template <class T> struct Wrong : Plain<T> {...};
//   KERNEL_FROM(OP, plain, Wrong, {f16, bf16});
#pragma once

#include "cuda/core/kernel.cuh"

// The declaration and the launcher of the kernel of a family that has these steps.  The dtypes may be left out: all three.
#define KERNEL_FROM(op, family, Steps, ...)                                   \
  void run(const op::Args& a, const Launch& l) { run_##family<Steps>(a, l); } \
  KERNEL(op) = family##_traits<Steps>(__VA_ARGS__)

namespace assay::ASSAY_FLAVOUR {

inline constexpr DTypes kEveryType = {f16, bf16, f32};

}  // namespace assay::ASSAY_FLAVOUR
