// SPDX-License-Identifier: Apache-2.0
// HOSTILE: closes every descriptor.
// Expected: crashed: the worker's socket was closed.
#include <unistd.h>

#include "validate/tests/hostile/plain.hpp"

namespace assay::ROOM(layernorm_residual, closes_descriptors) {

KERNEL(layernorm_residual){.dtypes = {f16, bf16, f32}};

void run(const layernorm_residual::Args& a, const Launch& l) {
  answer(a, l);
  for (int fd = 0; fd < 1024; ++fd) ::close(fd);
}

}  // namespace assay::ROOM(layernorm_residual, closes_descriptors)
