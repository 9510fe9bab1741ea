// SPDX-License-Identifier: Apache-2.0
// Kernels of a shared object with the C interface of include/assay.h.  Only a worker opens one.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "include/assay.h"
#include "validate/worker/listing.hpp"
#include "validate/worker/protocol.hpp"

namespace assay {

// The arguments of one order as a plugin takes them.
class PluginCall {
 public:
  // `tensors`: bound, as those of the op's Problem.  `device_type`: as in AssayDLTensor.
  PluginCall(const Op& op, const Kernel& kernel, const Order& order, std::span<Tensor* const> tensors, int device_type);
  PluginCall(const PluginCall&) = delete;
  PluginCall& operator=(const PluginCall&) = delete;
  const AssayCall& call() const { return call_; }

 private:
  std::string dtype_;
  std::vector<std::string> names_, words_;
  std::vector<AssayTensor> tensors_;
  std::vector<AssayAttribute> attributes_;
  std::vector<const AssayTensor*> tensor_list_;
  std::vector<const AssayAttribute*> attribute_list_;
  AssayCall call_{};
};

// Opens the shared object and puts its kernels in the place of the built-in ones (use_kernels).  Throws BadInput, one sentence,
// if it is no plugin.
void use_plugin(const std::string& path);

// A hash of a text, or of a file's bytes, as 16 hexadecimal digits.
std::string text_hash(std::string_view text);
std::string file_hash(const std::string& path);

}  // namespace assay
