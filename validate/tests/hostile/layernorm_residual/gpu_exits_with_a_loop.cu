// SPDX-License-Identifier: Apache-2.0
// HOSTILE: ends its process while a thread on the device never ends.
// Expected: crashed: the process ended.
#include <cuda_runtime.h>

#include <cstdlib>

#include "validate/tests/hostile/plain.hpp"

namespace assay::ROOM(layernorm_residual, gpu_exits_with_a_loop) {

KERNEL(layernorm_residual){.dtypes = {f16, bf16, f32}};

void run(const layernorm_residual::Args& a, const Launch& l) {
  answer(a, l);
  launch(spin<char>, {.grid = dim3(1), .block = dim3(1)}, l.stream, a.gamma.as<char>());
  std::_Exit(0);
}

}  // namespace assay::ROOM(layernorm_residual, gpu_exits_with_a_loop)
