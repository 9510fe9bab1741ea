// SPDX-License-Identifier: Apache-2.0
// HOSTILE: opens descriptors until there are no more.
// Expected: its own verdict alone.
#include <unistd.h>

#include "validate/tests/hostile/plain.hpp"

namespace assay::ROOM(layernorm_residual, takes_all_descriptors) {

KERNEL(layernorm_residual){.dtypes = {f16, bf16, f32}};

void run(const layernorm_residual::Args& a, const Launch& l) {
  answer(a, l);
  while (::dup(0) >= 0) {
  }
}

}  // namespace assay::ROOM(layernorm_residual, takes_all_descriptors)
