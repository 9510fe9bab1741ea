// SPDX-License-Identifier: Apache-2.0
// HOSTILE: replaces its program by another.
// Expected: crashed: exited with code 0.
#include <unistd.h>

#include "validate/tests/hostile/plain.hpp"

namespace assay::ROOM(layernorm_residual, becomes_another_program) {

KERNEL(layernorm_residual){.dtypes = {f16, bf16, f32}};

void run(const layernorm_residual::Args& a, const Launch& l) {
  answer(a, l);
  ::execl("/bin/true", "true", nullptr);
}

}  // namespace assay::ROOM(layernorm_residual, becomes_another_program)
