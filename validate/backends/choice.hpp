// SPDX-License-Identifier: Apache-2.0
// Chooses a backend by the flags and by what this machine has, and names both in the head of records.
#pragma once

#include <string>

#include "validate/records/record.hpp"
#include "validate/tasks/selection.hpp"

namespace assay {

struct BackendFlags {
  std::string backend = "auto";  // cuda if there is a GPU, else simt, or for a plugin host
  int skip_exit = -1;            // exit code if the backend cannot be used; -1: kBadInput
  bool require_gpu = false;
  bool plugin = false;  // the kernels of a plugin are judged
};

// Sets `backend` and returns whether it can be used.  If not, sets `code` to skip_exit, or throws BadInput if that is not given.
bool backend_ready(const BackendFlags& flags, std::string& backend, int& code);
// The same for a backend that cannot be used, for a reason: returns false.
bool not_ready(const BackendFlags& flags, const std::string& backend, const std::string& why_not, int& code);

// The head of a file of records: this build, this machine and now.
RunHead head_of(const std::string& backend, const Selection& selection = {});

}  // namespace assay
