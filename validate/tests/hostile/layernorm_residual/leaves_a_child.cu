// SPDX-License-Identifier: Apache-2.0
// HOSTILE: leaves a process behind that holds the socket, and ends.
// Expected: timeout: as long as the socket is open, an answer may come.  Or crashed: the judge ends orphans when a worker ends.
#include <unistd.h>

#include <cstdlib>

#include "validate/tests/hostile/plain.hpp"

namespace assay::ROOM(layernorm_residual, leaves_a_child) {

KERNEL(layernorm_residual){.dtypes = {f16, bf16, f32}};

void run(const layernorm_residual::Args& a, const Launch& l) {
  answer(a, l);
  if (::fork() == 0) {
    ::sleep(1000);
    std::_Exit(0);
  }
  std::_Exit(0);
}

}  // namespace assay::ROOM(layernorm_residual, leaves_a_child)
