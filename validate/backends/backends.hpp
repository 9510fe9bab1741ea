// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "validate/worker/backend.hpp"
#include "validate/worker/listing.hpp"

namespace assay {

struct BackendInfo {
  std::string_view name;
  bool built = false;
  std::string unavailable;  // the reason why it cannot be used here; empty: it can
  std::string device;
};

// A backend, and whether this machine can use it.  Only a question about cuda starts CUDA's driver in this process.
BackendInfo backend_info(std::string_view name);
std::vector<BackendInfo> backends();  // all
// Throws std::runtime_error if there is no such backend or it cannot be used here.
std::unique_ptr<Backend> open_backend(std::string_view name);

// What kernels are made of: C++, or PTX, of which the simulated machine executes each instruction.
enum class KernelCode { compiled, ptx };
// What our own worker checks on this backend, of kChecks.
std::vector<std::string> checks_on(std::string_view backend, KernelCode code = KernelCode::compiled);
// What it says of itself.
Listing about_worker(std::string_view backend, KernelCode code = KernelCode::compiled);

std::string host_device();
std::unique_ptr<Backend> open_host();
std::string simt_device();
std::unique_ptr<Backend> open_simt();
BackendInfo cuda_info();
std::unique_ptr<Backend> open_cuda();

}  // namespace assay
