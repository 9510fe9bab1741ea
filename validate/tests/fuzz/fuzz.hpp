// SPDX-License-Identifier: Apache-2.0
// What the fuzzers share: bad input may be refused in one sentence, and nothing else may come of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "validate/base/error.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace assay::fuzz {

// Whether f took its input.  Any exception but BadInput goes on and ends the fuzzer.
template <class F>
bool accepted(F&& f) {
  try {
    f();
  } catch (const BadInput& e) {
    if (!*e.what()) std::abort();
    return false;
  }
  return true;
}

inline void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "does not hold: %s\n", what);
  std::abort();
}

}  // namespace assay::fuzz
