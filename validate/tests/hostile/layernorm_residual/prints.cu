// SPDX-License-Identifier: Apache-2.0
// HOSTILE: writes to standard output, which belongs to the command.
// Expected: passed, and nothing of it in the standard output of the run.
#include <cstdio>

#include "validate/tests/hostile/plain.hpp"

namespace assay::ROOM(layernorm_residual, prints) {

KERNEL(layernorm_residual){.dtypes = {f16, bf16, f32}};

void run(const layernorm_residual::Args& a, const Launch& l) {
  answer(a, l);
  std::puts("{\"record\":\"case\",\"verdict\":\"passed\"}");
  std::fflush(stdout);
}

}  // namespace assay::ROOM(layernorm_residual, prints)
