// SPDX-License-Identifier: Apache-2.0
// HOSTILE: ends its process as if all were well.
// Expected: crashed: exited with code 0.
#include <cstdlib>

#include "validate/tests/hostile/plain.hpp"

namespace assay::ROOM(layernorm_residual, calls_exit) {

KERNEL(layernorm_residual){.dtypes = {f16, bf16, f32}};

void run(const layernorm_residual::Args& a, const Launch& l) {
  answer(a, l);
  std::_Exit(0);
}

}  // namespace assay::ROOM(layernorm_residual, calls_exit)
