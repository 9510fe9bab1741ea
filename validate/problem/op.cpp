// SPDX-License-Identifier: Apache-2.0
#include "validate/problem/op.hpp"

namespace assay {

const Op* find_op(std::string_view name) {
  for (const Op& op : ops())
    if (op.name == name) return &op;
  return nullptr;
}

const Kernel* find_kernel(std::string_view op, std::string_view name) {
  for (const Kernel& k : kernels())
    if (k.op == op && k.name == name) return &k;
  return nullptr;
}

}  // namespace assay
