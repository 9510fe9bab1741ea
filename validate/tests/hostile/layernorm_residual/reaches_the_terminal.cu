// SPDX-License-Identifier: Apache-2.0
// HOSTILE: reaches for the judge's terminal and process group.
// Expected: passed: they are those of another session.  Else it gives a wrong answer.
#include <fcntl.h>
#include <unistd.h>

#include "validate/tests/hostile/plain.hpp"

namespace assay::ROOM(layernorm_residual, reaches_the_terminal) {

KERNEL(layernorm_residual){.dtypes = {f16, bf16, f32}};

void run(const layernorm_residual::Args& a, const Launch& l) {
  answer(a, l);
  if (::open("/dev/tty", O_RDONLY) >= 0 || ::setpgid(0, ::getpgid(::getppid())) == 0) spoil(a, l);
}

}  // namespace assay::ROOM(layernorm_residual, reaches_the_terminal)
