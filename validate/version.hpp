// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace assay {

std::string_view version();      // "0.1.0"
std::string_view commit();       // of the source tree when it was built; "-dirty" where it had changes
std::string_view build_flags();  // build type, CUDA version and architectures

}  // namespace assay
