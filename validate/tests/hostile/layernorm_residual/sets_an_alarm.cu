// SPDX-License-Identifier: Apache-2.0
// HOSTILE: has itself ended by a timer.
// Expected: crashed: signal 14.
#include <sys/time.h>
#include <unistd.h>

#include "validate/tests/hostile/plain.hpp"

namespace assay::ROOM(layernorm_residual, sets_an_alarm) {

KERNEL(layernorm_residual){.dtypes = {f16, bf16, f32}};

void run(const layernorm_residual::Args& a, const Launch& l) {
  answer(a, l);
  const itimerval soon{{0, 0}, {0, 1000}};
  ::setitimer(ITIMER_REAL, &soon, nullptr);
  for (;;) ::pause();
}

}  // namespace assay::ROOM(layernorm_residual, sets_an_alarm)
