// SPDX-License-Identifier: Apache-2.0
// Kernels of a PTX module with a launch file, on the simulated machine.  Only a worker loads one.
#pragma once

#include <string>

namespace assay {

// Decodes every entry that the launch file names and puts the kernel in the place of the built-in ones (use_kernels).  Throws
// BadInput, one sentence that begins with the file and its line, if the machine does not run it.
void use_ptx(const std::string& module_path, const std::string& launch_path);

}  // namespace assay
