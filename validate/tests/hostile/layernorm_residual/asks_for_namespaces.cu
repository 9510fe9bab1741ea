// SPDX-License-Identifier: Apache-2.0
// HOSTILE: asks for namespaces of its own.
// Expected: passed: it may not have them.  Else it gives a wrong answer.
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "validate/tests/hostile/plain.hpp"

namespace assay::ROOM(layernorm_residual, asks_for_namespaces) {

KERNEL(layernorm_residual){.dtypes = {f16, bf16, f32}};

void run(const layernorm_residual::Args& a, const Launch& l) {
  answer(a, l);
  if (::unshare(CLONE_NEWUSER | CLONE_NEWPID) == 0) spoil(a, l);
  const long child = ::syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0);
  if (child == 0) ::_exit(0);
  if (child > 0) {
    ::waitpid(static_cast<pid_t>(child), nullptr, 0);
    spoil(a, l);
  }
}

}  // namespace assay::ROOM(layernorm_residual, asks_for_namespaces)
