// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "module.hpp"

namespace simt::ptx {

// The function with the bodies of the functions that it calls in the place of their calls.  Throws Refused for a call through a
// register, of a function without a body, of one that calls itself, and if the result has too many instructions.
Function without_calls(const Module& module, const Function& f);

}  // namespace simt::ptx
