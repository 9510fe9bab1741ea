// SPDX-License-Identifier: Apache-2.0
// A CUDA source as PTX, by a compiler of NVIDIA's that this machine has (docs/triton.md).
#pragma once

#include <string>

namespace assay {

// Compiles a source for sm_80, with line information: with nvcc, where it is on the PATH, else with the library NVRTC, which
// the variable ASSAY_NVRTC names or the loader finds.  Returns the path of the PTX, a file that is removed when this process
// ends.  Throws BadInput, one sentence: the compiler's first error, or that there is no compiler.
std::string ptx_of(const std::string& source);

// Removes these files.  For a process that ends without its destructors.
void remove_compiled() noexcept;

}  // namespace assay
