// SPDX-License-Identifier: Apache-2.0
// The PTX door of the simulated machine: load a module, find its entries, launch them.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "hooks.hpp"
#include "program.hpp"

namespace simt::ptx {

struct Shape {
  device::dim3 grid, block;
  std::size_t dynamic_shared_bytes = 0;
  bool dependent = false;  // it may begin before the launch before it has ended, until its threads wait (griddepcontrol.wait)
};

// Runs an entry on the machine.  `parameters`: the bytes of its parameters, each at Program::parameter_at.  Throws Fault.
void launch(const Program& program, const Shape& shape, const void* stream, std::span<const std::byte> parameters);

}  // namespace simt::ptx
