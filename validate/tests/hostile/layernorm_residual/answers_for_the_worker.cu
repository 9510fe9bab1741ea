// SPDX-License-Identifier: Apache-2.0
// HOSTILE: writes garbage to the worker's socket.
// Expected: crashed: something other than a reply was written to it.
#include <sys/socket.h>

#include "validate/tests/hostile/plain.hpp"

namespace assay::ROOM(layernorm_residual, answers_for_the_worker) {

KERNEL(layernorm_residual){.dtypes = {f16, bf16, f32}};

void run(const layernorm_residual::Args& a, const Launch& l) {
  answer(a, l);
  ::send(3, "{\"id\":", 6, MSG_NOSIGNAL);
}

}  // namespace assay::ROOM(layernorm_residual, answers_for_the_worker)
