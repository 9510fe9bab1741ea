// SPDX-License-Identifier: Apache-2.0
// HOSTILE: asks for a block of 4096 threads.
// Expected: failed: bad_launch on simt, an invalid configuration on a GPU.
#include "validate/tests/hostile/plain.hpp"

namespace assay::ROOM(layernorm_residual, launches_too_many) {

KERNEL(layernorm_residual){.dtypes = {f16, bf16, f32}};

void run(const layernorm_residual::Args& a, const Launch& l) {
  answer(a, l);
  launch(spin<char>, {.grid = dim3(1), .block = dim3(4096)}, l.stream, static_cast<const char*>(nullptr));
}

}  // namespace assay::ROOM(layernorm_residual, launches_too_many)
