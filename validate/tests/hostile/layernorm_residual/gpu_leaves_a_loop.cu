// SPDX-License-Identifier: Apache-2.0
// HOSTILE: answers, and leaves a thread on another stream that never ends.
// Expected: timeout: the device never becomes idle.
#include <cuda_runtime.h>

#include "validate/tests/hostile/plain.hpp"

namespace assay::ROOM(layernorm_residual, gpu_leaves_a_loop) {

KERNEL(layernorm_residual){.dtypes = {f16, bf16, f32}};

void run(const layernorm_residual::Args& a, const Launch& l) {
  answer(a, l);
  cudaStream_t another = nullptr;
  cudaStreamCreateWithFlags(&another, cudaStreamNonBlocking);
  launch(spin<char>, {.grid = dim3(1), .block = dim3(1)}, another, a.gamma.as<char>());
}

}  // namespace assay::ROOM(layernorm_residual, gpu_leaves_a_loop)
