// SPDX-License-Identifier: Apache-2.0
// HOSTILE: sends the judge every signal.
// Expected: passed: none arrives.  Else it gives a wrong answer.
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "validate/tests/hostile/plain.hpp"

namespace assay::ROOM(layernorm_residual, signals_the_judge) {

KERNEL(layernorm_residual){.dtypes = {f16, bf16, f32}};

void run(const layernorm_residual::Args& a, const Launch& l) {
  answer(a, l);
  for (int signal = 1; signal < 32; ++signal)
    if (::kill(::getppid(), signal) == 0 || ::syscall(SYS_tgkill, ::getppid(), ::getppid(), signal) == 0) spoil(a, l);
}

}  // namespace assay::ROOM(layernorm_residual, signals_the_judge)
