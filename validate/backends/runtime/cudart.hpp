// SPDX-License-Identifier: Apache-2.0
// The part of the CUDA runtime that the host code of our kernels calls, over the PTX door of the simulated machine.  A program
// that is linked with it in place of NVIDIA's runtime runs the PTX which nvcc put into its objects.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace simt::ptx {
struct Program;
}

namespace assay::cudart {

// The programs that were launched since this was called last, in the order of their first launches.
std::vector<std::shared_ptr<const simt::ptx::Program>> launched();

// A module that an object registered: its text, and its name in messages, OP/KERNEL.ptx.
struct RegisteredModule {
  std::string name;
  std::string_view text;
};
std::vector<RegisteredModule> modules();

}  // namespace assay::cudart
