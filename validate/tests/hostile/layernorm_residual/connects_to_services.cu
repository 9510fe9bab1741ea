// SPDX-License-Identifier: Apache-2.0
// HOSTILE: makes a socket.
// Expected: passed: it may not.  Else it gives a wrong answer.
#include <sys/socket.h>

#include "validate/tests/hostile/plain.hpp"

namespace assay::ROOM(layernorm_residual, connects_to_services) {

KERNEL(layernorm_residual){.dtypes = {f16, bf16, f32}};

void run(const layernorm_residual::Args& a, const Launch& l) {
  answer(a, l);
  if (::socket(AF_UNIX, SOCK_STREAM, 0) >= 0 || ::socket(AF_INET, SOCK_STREAM, 0) >= 0) spoil(a, l);
}

}  // namespace assay::ROOM(layernorm_residual, connects_to_services)
