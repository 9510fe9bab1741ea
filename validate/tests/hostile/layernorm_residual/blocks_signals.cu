// SPDX-License-Identifier: Apache-2.0
// HOSTILE: blocks and ignores every signal, and never answers.
// Expected: timeout.
#include <signal.h>
#include <unistd.h>

#include "validate/tests/hostile/plain.hpp"

namespace assay::ROOM(layernorm_residual, blocks_signals) {

KERNEL(layernorm_residual){.dtypes = {f16, bf16, f32}};

void run(const layernorm_residual::Args& a, const Launch& l) {
  answer(a, l);
  sigset_t all;
  ::sigfillset(&all);
  ::sigprocmask(SIG_BLOCK, &all, nullptr);
  for (int signal = 1; signal < 32; ++signal) ::signal(signal, SIG_IGN);
  for (;;) ::pause();
}

}  // namespace assay::ROOM(layernorm_residual, blocks_signals)
