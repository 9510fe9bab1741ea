// SPDX-License-Identifier: Apache-2.0
// HOSTILE: calls std::exit, which runs the process's exit handlers, with a code that says failure.
// Expected: crashed: exited with code 3.
#include <cstdlib>

#include "validate/tests/hostile/plain.hpp"

namespace assay::ROOM(layernorm_residual, exits_in_order) {

KERNEL(layernorm_residual){.dtypes = {f16, bf16, f32}};

void run(const layernorm_residual::Args& a, const Launch& l) {
  answer(a, l);
  std::exit(3);
}

}  // namespace assay::ROOM(layernorm_residual, exits_in_order)
