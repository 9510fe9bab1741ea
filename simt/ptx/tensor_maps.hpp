// SPDX-License-Identifier: Apache-2.0
// Tensor maps as PTX has them: 128 bytes of a parameter or of memory.
#pragma once

#include "memory.hpp"
#include "tensor_copy.hpp"

namespace simt::ptx {

// The map at a generic address, as the running thread finds it there.
device::TensorMap map_at(const Warp& w, std::uint64_t address, Where where);
// Forgets which maps were made; called at the start of a launch and of a block.
void forget_maps(bool of_launch);

}  // namespace simt::ptx
