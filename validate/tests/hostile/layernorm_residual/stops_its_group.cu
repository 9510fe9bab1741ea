// SPDX-License-Identifier: Apache-2.0
// HOSTILE: stops its process group.
// Expected: timeout.
#include <signal.h>

#include "validate/tests/hostile/plain.hpp"

namespace assay::ROOM(layernorm_residual, stops_its_group) {

KERNEL(layernorm_residual){.dtypes = {f16, bf16, f32}};

void run(const layernorm_residual::Args& a, const Launch& l) {
  answer(a, l);
  ::kill(0, SIGSTOP);
}

}  // namespace assay::ROOM(layernorm_residual, stops_its_group)
