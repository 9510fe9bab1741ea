// SPDX-License-Identifier: Apache-2.0
// How an op enters itself in the shared object libassay_kernels (cmake/exported_op.in).
#pragma once

#include <span>
#include <string_view>

#include "validate/backends/library/exported.hpp"

namespace assay::exported {

// The kernels of an op that a shared object exports, the preferred one first, with their head comments.
struct Preferred {
  std::string_view kernel, about;
};
template <class Op>
void add_preferred(Kernels& to, std::span<const Preferred> order) {
  for (const Preferred& next : order)
    for (const LinkedKernel<Op>* k = LinkedKernel<Op>::first; k; k = k->next)
      if (stem(k->file) == next.kernel) to.add(*k, next.about);
}

template <class Op>
concept Composite = requires(const typename Op::Args a) {
  Op::stages(a);
};

// An op of which a shared object exports kernels; enters itself before main().
struct LinkedOp {
  std::string_view op;
  bool composite;  // whose outputs have numerics each, for which the C interface has no words
  void (*add)(Kernels&);
  const LinkedOp* next;
  static inline const LinkedOp* first = nullptr;
  LinkedOp(std::string_view o, bool c, void (*a)(Kernels&)) : op(o), composite(c), add(a), next(first) { first = this; }
};

}  // namespace assay::exported
