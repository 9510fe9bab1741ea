// SPDX-License-Identifier: Apache-2.0
// HOSTILE: ends the process in an exit handler.
// Expected: crashed: exited with code 7.
#include <unistd.h>

#include <cstdlib>

#include "validate/tests/hostile/plain.hpp"

namespace assay::ROOM(layernorm_residual, exits_in_a_handler) {

KERNEL(layernorm_residual){.dtypes = {f16, bf16, f32}};

void run(const layernorm_residual::Args& a, const Launch& l) {
  answer(a, l);
  std::atexit([] { ::_exit(7); });
  std::exit(0);
}

}  // namespace assay::ROOM(layernorm_residual, exits_in_a_handler)
