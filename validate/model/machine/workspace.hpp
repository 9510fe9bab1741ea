// SPDX-License-Identifier: Apache-2.0
// The memory that kernels work in besides their tensors.
#pragma once

#include <cstddef>
#include <vector>

#include "validate/model/choice.hpp"
#include "validate/model/machine/machine.hpp"

namespace assay {

// Memory of a backend.
class Workspace {
 public:
  Workspace(Backend& backend, std::size_t bytes)
      : backend_(backend), data_(bytes ? backend.allocate(bytes, 0, "workspace") : nullptr) {}
  ~Workspace() {
    if (data_) backend_.release(data_);
  }
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;
  void* data() const { return data_; }

 private:
  Backend& backend_;
  void* const data_;
};

// Bytes of a workspace that the steps use in turn, each by any kernel that may run it.
std::size_t workspace_of(const KernelChoice& choice, const std::vector<PlacedStep>& steps);

}  // namespace assay
