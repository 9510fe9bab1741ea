// SPDX-License-Identifier: Apache-2.0
// The backend that flags mean, on this machine.
#pragma once

#include <string>

namespace assay {

struct BackendFlags {
  std::string backend = "auto";  // cuda where there is a GPU, else simt
  int skip_exit = -1;            // exit code when the backend is missing; -1: kBadInput
  bool require_gpu = false;
};

// Whether work can go on with the backend of these flags; if not, `code` is what to exit with, or it throws BadInput.
bool backend_ready(const BackendFlags& flags, std::string& backend, int& code);

}  // namespace assay
