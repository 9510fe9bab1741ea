// SPDX-License-Identifier: Apache-2.0
// HOSTILE: leaves a process in a session of its own behind.
// Expected: failed: it left a process behind.
#include <sys/wait.h>
#include <unistd.h>

#include "validate/tests/hostile/plain.hpp"

namespace assay::ROOM(layernorm_residual, leaves_a_daemon) {

KERNEL(layernorm_residual){.dtypes = {f16, bf16, f32}};

void run(const layernorm_residual::Args& a, const Launch& l) {
  answer(a, l);
  if (const pid_t child = ::fork(); child > 0) {
    ::waitpid(child, nullptr, 0);
    return;
  }
  ::setsid();
  if (::fork() > 0) ::_exit(0);
  for (;;) ::pause();
}

}  // namespace assay::ROOM(layernorm_residual, leaves_a_daemon)
