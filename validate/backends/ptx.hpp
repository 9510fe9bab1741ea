// SPDX-License-Identifier: Apache-2.0
// Kernels of a PTX module with a launch file, on the simulated machine or a GPU.  Only a worker loads one.
#pragma once

#include <string>
#include <string_view>

namespace assay {

// Puts the kernel in the place of the built-in ones (use_kernels).  On simt it decodes every entry that the launch file names; a
// GPU's driver compiles the module at the first case.  Throws BadInput, one sentence that begins with the file and its line, if
// the text is no module or simt does not run it.
void use_ptx(const std::string& module_path, const std::string& launch_path, std::string_view backend);

}  // namespace assay
