// SPDX-License-Identifier: Apache-2.0
// The source line of a PTX instruction, in the form that the machine takes from C++ kernels.
#pragma once

#include <string>

#include "where.hpp"

namespace simt::ptx {

// A place that lives as long as the process, other than every earlier one.  `column` is the line of the PTX text.
Where new_place(const std::string& file, unsigned line, unsigned column);

}  // namespace simt::ptx
