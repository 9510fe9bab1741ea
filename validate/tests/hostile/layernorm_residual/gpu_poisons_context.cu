// SPDX-License-Identifier: Apache-2.0
// HOSTILE: accesses an illegal address, then reads the CUDA error and ignores it.
// Expected: failed: the context stays broken, and the next call reports that.
#include <cuda_runtime.h>

#include "validate/tests/hostile/plain.hpp"

namespace assay::ROOM(layernorm_residual, gpu_poisons_context) {

KERNEL(layernorm_residual){.dtypes = {f16, bf16, f32}};

void run(const layernorm_residual::Args& a, const Launch& l) {
  answer(a, l);
  launch(poke<int>, {.grid = dim3(1), .block = dim3(1)}, l.stream, static_cast<int*>(nullptr));
  cudaDeviceSynchronize();
  cudaGetLastError();
}

}  // namespace assay::ROOM(layernorm_residual, gpu_poisons_context)
