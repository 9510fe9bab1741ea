// SPDX-License-Identifier: Apache-2.0
// The forms of PTX instructions that are compared between the simulated machine and a GPU (`validate probe --ptx`).
#pragma once

#include <string>
#include <vector>

namespace assay {

// Each form is PTX text that computes register 0 of its type (%h0, %r0, %rd0, %f0, %fd0 or %p0) from registers 1 to 4 of any
// type. All registers with one number come from the same 64 random bits: %rd1 has them, %r1, %f1 and %h1 the low ones, %p1 the
// lowest. A second result is in %r9 or %p9, or in the thread's memory, which %rd20 points to; %r20 is the offset of its shared
// memory.
std::vector<std::string> ptx_forms();

// A module for sm_90 whose entry `probe` runs a form: parameters are the addresses of the inputs, [threads, 4] of 64 bits, and of
// the results, [threads, 2] of 64 bits.  Blocks have kPtxThreads threads.
inline constexpr unsigned kPtxThreads = 256;
std::string ptx_module_of(const std::string& form);

}  // namespace assay
