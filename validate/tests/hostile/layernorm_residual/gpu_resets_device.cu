// SPDX-License-Identifier: Apache-2.0
// HOSTILE: resets the device under the worker.
// Expected: failed or crashed, by the next call.
#include <cuda_runtime.h>

#include "validate/tests/hostile/plain.hpp"

namespace assay::ROOM(layernorm_residual, gpu_resets_device) {

KERNEL(layernorm_residual){.dtypes = {f16, bf16, f32}};

void run(const layernorm_residual::Args& a, const Launch& l) {
  answer(a, l);
  cudaDeviceReset();
}

}  // namespace assay::ROOM(layernorm_residual, gpu_resets_device)
