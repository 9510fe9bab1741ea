// SPDX-License-Identifier: Apache-2.0
// HOSTILE: writes to standard output, which belongs to the command, and a character that some terminals obey, in two halves.
// Expected: passed, and nothing of it in the standard output of the run, nor that character anywhere.
#include <cstdio>

#include "validate/tests/hostile/plain.hpp"

namespace assay::ROOM(layernorm_residual, prints) {

KERNEL(layernorm_residual){.dtypes = {f16, bf16, f32}};

void run(const layernorm_residual::Args& a, const Launch& l) {
  answer(a, l);
  std::puts("{\"record\":\"case\",\"verdict\":\"passed\"}");
  for (const char* half : {"\302", "\233[31m\n"}) {
    std::fputs(half, stdout);
    std::fflush(stdout);
  }
}

}  // namespace assay::ROOM(layernorm_residual, prints)
