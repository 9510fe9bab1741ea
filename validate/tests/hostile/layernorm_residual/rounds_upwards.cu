// SPDX-License-Identifier: Apache-2.0
// HOSTILE: makes the processor round upwards, and leaves it so.
// Expected: its own verdict alone.
#include <cfenv>

#include "validate/tests/hostile/plain.hpp"

namespace assay::ROOM(layernorm_residual, rounds_upwards) {

KERNEL(layernorm_residual){.dtypes = {f16, bf16, f32}};

void run(const layernorm_residual::Args& a, const Launch& l) {
  answer(a, l);
  std::fesetround(FE_UPWARD);
}

}  // namespace assay::ROOM(layernorm_residual, rounds_upwards)
