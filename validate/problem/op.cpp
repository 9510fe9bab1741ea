// SPDX-License-Identifier: Apache-2.0
#include "validate/problem/op.hpp"

namespace assay {

namespace {

std::vector<Kernel>& loaded_kernels() {
  static std::vector<Kernel> all;
  return all;
}

}  // namespace

std::span<const Kernel> kernels() { return loaded_kernels().empty() ? built_in_kernels() : loaded_kernels(); }
void use_kernels(std::vector<Kernel> loaded) { loaded_kernels() = std::move(loaded); }

const Op* find_op(std::string_view name) {
  for (const Op& op : ops())
    if (op.name == name) return &op;
  return nullptr;
}

std::vector<std::string_view> kernel_names(std::string_view op) {
  std::vector<std::string_view> names;
  for (const Kernel& k : kernels())
    if (k.op == op) names.push_back(k.name);
  return names;
}

const Kernel* find_kernel(std::string_view op, std::string_view name) {
  for (const Kernel& k : kernels())
    if (k.op == op && k.name == name) return &k;
  return nullptr;
}

}  // namespace assay
