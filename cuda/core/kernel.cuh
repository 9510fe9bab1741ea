// SPDX-License-Identifier: Apache-2.0
// Included by every kernel file.  A file cuda/OP/STEM.cu opens `namespace assay::ROOM(OP, STEM) {` and defines in it
//   KERNEL(OP){...};                                      its declaration, a KernelTraits<OP>; or KERNEL(OP) = a shared one;
//   void run(const OP::Args& a, const Launch& l) {...}    its launcher
// The kernel then enters itself among those that the program is linked with (ops/core/linked.hpp).
#pragma once

#include <algorithm>
#include <stdexcept>
#include <string>
#include <type_traits>

#include "cuda/core/device.cuh"
#include "ops/core/kernel.hpp"
#include "ops/core/linked.hpp"

#ifndef ASSAY_ABOUT  // the file's head comment, where a build knows it
#define ASSAY_ABOUT ""
#endif

#ifndef ASSAY_PLACE  // the path after which the kernel is named; cmake/faults.py sets another for a kernel that it writes
#define ASSAY_PLACE __FILE__
#endif

#define ROOM(op, stem) ASSAY_FLAVOUR::op##_room::stem
#define KERNEL(op)                                                                                             \
  extern const KernelTraits<op> traits;                                                                        \
  void run(const op::Args&, const Launch&);                                                                    \
  static_assert(is_in_room([] { return __PRETTY_FUNCTION__; }(), #op, stem(ASSAY_PLACE)),                      \
                "a file cuda/OP/STEM.cu opens namespace assay::ROOM(OP, STEM), and its KERNEL names that OP"); \
  static const LinkKernel<op, traits, run> linked(#op, Flavour::ASSAY_FLAVOUR, ASSAY_PLACE, ASSAY_ABOUT);      \
  const KernelTraits<op> traits

namespace assay::ASSAY_FLAVOUR {

template <class T>
struct Type {
  using type = T;
};

// Calls f(Type<T>{}) with the element type of a dtype.  Throws std::invalid_argument for a dtype that no kernel takes.
template <class F>
void with_type(DType t, F&& f) {
  switch (t) {
    case DType::f16: return f(Type<half>{});
    case DType::bf16: return f(Type<bfloat16>{});
    case DType::f32: return f(Type<float>{});
    default: throw std::invalid_argument("no kernel takes dtype " + std::string(name(t)));
  }
}

// The same for the 16-bit dtypes only, which tensor cores take.
template <class F>
void with_half_type(DType t, F&& f) {
  switch (t) {
    case DType::f16: return f(Type<half>{});
    case DType::bf16: return f(Type<bfloat16>{});
    default: throw std::invalid_argument("no tensor-core kernel takes dtype " + std::string(name(t)));
  }
}

constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

}  // namespace assay::ASSAY_FLAVOUR
