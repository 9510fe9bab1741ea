// SPDX-License-Identifier: Apache-2.0
// HOSTILE: asks for namespaces of its own.
// Expected: passed: it may not have them.  Else it gives a wrong answer.
#include <sched.h>

#include "validate/tests/hostile/plain.hpp"

namespace assay::ROOM(layernorm_residual, asks_for_namespaces) {

KERNEL(layernorm_residual){.dtypes = {f16, bf16, f32}};

void run(const layernorm_residual::Args& a, const Launch& l) {
  answer(a, l);
  if (::unshare(CLONE_NEWUSER | CLONE_NEWPID) == 0) spoil(a, l);
}

}  // namespace assay::ROOM(layernorm_residual, asks_for_namespaces)
