// SPDX-License-Identifier: Apache-2.0
// What a program was built with.
#pragma once

#include <string>

namespace assay {

std::string compiler_text();  // "g++ 12.2.0"
std::string build_text();     // with the version of Assay: "Assay 0.1.0, g++ 12.2.0"

}  // namespace assay
