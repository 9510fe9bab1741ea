// SPDX-License-Identifier: Apache-2.0
// Families of kernels that differ in one step.  The broken/plain.cuh of some ops writes the op's plain kernel in steps:
//   template <class T> struct Plain {...};                                                     the right steps
//   template <template <class> class S> constexpr KernelTraits<OP> plain_traits(DTypes);       declares the kernel of steps S
//   template <template <class> class S> void run_plain(const OP::Args&, const Launch&);        launches it
// A broken kernel, or a variant that is right, then defines only the step in which it differs:
//   template <class T> struct Wrong : Plain<T> {...};
//   KERNEL_FROM(OP, plain, Wrong, {f16, bf16});
#pragma once

#include "cuda/core/kernel.cuh"

// Declares the kernel of a family that has these steps, and defines its launcher.  Without dtypes it takes all three.
#define KERNEL_FROM(op, family, Steps, ...)                                   \
  void run(const op::Args& a, const Launch& l) { run_##family<Steps>(a, l); } \
  KERNEL(op) = family##_traits<Steps>(__VA_ARGS__)

// The same for a variant that declares numerics of its own.
#define KERNEL_DECLARING(op, family, Steps, numerics_of_it, ...)              \
  void run(const op::Args& a, const Launch& l) { run_##family<Steps>(a, l); } \
  KERNEL(op) = declaring(family##_traits<Steps>(__VA_ARGS__), numerics_of_it)

namespace assay::ASSAY_FLAVOUR {

template <class Op>
constexpr KernelTraits<Op> declaring(KernelTraits<Op> traits, const Numerics& numerics) {
  traits.numerics = numerics;
  return traits;
}

inline constexpr DTypes kEveryType = {f16, bf16, f32};

// For broken kernels: v with 12 significant bits, as an approximate instruction has it.
__device__ inline float of_12_bits(float v) {
  const unsigned bits = __builtin_bit_cast(unsigned, v);
  return __builtin_bit_cast(float, (bits + 0x800u) & ~0xfffu);
}

}  // namespace assay::ASSAY_FLAVOUR
