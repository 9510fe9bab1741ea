// SPDX-License-Identifier: Apache-2.0
// HOSTILE: leaves 100 processes in sessions of their own behind, and ends.
// Expected: crashed: signal 6.  The processes end too.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

#include "validate/tests/hostile/plain.hpp"

namespace assay::ROOM(layernorm_residual, leaves_many_and_dies) {

KERNEL(layernorm_residual){.dtypes = {f16, bf16, f32}};

void run(const layernorm_residual::Args& a, const Launch& l) {
  answer(a, l);
  for (int i = 0; i < 100; ++i) {
    if (const pid_t child = ::fork(); child > 0) {
      ::waitpid(child, nullptr, 0);
      continue;
    }
    ::setsid();
    if (::fork() > 0) ::_exit(0);
    ::close(3);  // else the socket would stay open
    for (;;) ::pause();
  }
  std::abort();
}

}  // namespace assay::ROOM(layernorm_residual, leaves_many_and_dies)
