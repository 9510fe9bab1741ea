// SPDX-License-Identifier: Apache-2.0
// HOSTILE: aborts.
// Expected: crashed, by SIGABRT.
#include <cstdlib>

#include "validate/tests/hostile/plain.hpp"

namespace assay::ROOM(layernorm_residual, calls_abort) {

KERNEL(layernorm_residual){.dtypes = {f16, bf16, f32}};

void run(const layernorm_residual::Args& a, const Launch& l) {
  answer(a, l);
  std::abort();
}

}  // namespace assay::ROOM(layernorm_residual, calls_abort)
