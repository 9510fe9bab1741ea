// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace assay {

std::string_view version();      // "0.1.0"
std::string_view commit();       // of the source tree at build time; ends in "-dirty" if the tree had local changes
std::string_view build_flags();  // build type, CUDA version and architectures
// Hash of everything that a kernel is compiled from: its file and every file of the tree that it includes, without comments, the
// compiler and its flags.  Equal hashes mean equal code.  Empty if there is no such kernel.
std::string_view code_hash(std::string_view op, std::string_view kernel);

}  // namespace assay
