// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstring>
#include <memory>
#include <string>

#include "validate/worker/backend.hpp"

namespace assay {

std::string simt_device();
std::unique_ptr<Backend> open_simt();
BackendInfo cuda_info();
std::unique_ptr<Backend> open_cuda();

}  // namespace assay
