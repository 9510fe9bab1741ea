// SPDX-License-Identifier: Apache-2.0
// HOSTILE: uses up its stack.
// Expected: crashed, by SIGSEGV.
#include "validate/tests/hostile/plain.hpp"

namespace assay::ROOM(layernorm_residual, recurses_forever) {

KERNEL(layernorm_residual){.dtypes = {f16, bf16, f32}};

int deeper(volatile int* from) {
  volatile int here[1024] = {};
  here[0] = *from + 1;
  return *from < 0 ? 0 : deeper(here) + here[0];
}

void run(const layernorm_residual::Args& a, const Launch& l) {
  answer(a, l);
  volatile int start = 0;
  start = deeper(&start);
}

}  // namespace assay::ROOM(layernorm_residual, recurses_forever)
