// SPDX-License-Identifier: Apache-2.0
// HOSTILE: closes the descriptor that the worker answers on.
// Expected: crashed: the worker's socket was closed.
#include <unistd.h>

#include "validate/tests/hostile/plain.hpp"

namespace assay::ROOM(layernorm_residual, closes_socket) {

KERNEL(layernorm_residual){.dtypes = {f16, bf16, f32}};

void run(const layernorm_residual::Args& a, const Launch& l) {
  answer(a, l);
  ::close(3);
}

}  // namespace assay::ROOM(layernorm_residual, closes_socket)
