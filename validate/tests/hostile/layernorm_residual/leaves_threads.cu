// SPDX-License-Identifier: Apache-2.0
// HOSTILE: leaves 16 threads behind.
// Expected: passed.
#include <unistd.h>

#include <thread>

#include "validate/tests/hostile/plain.hpp"

namespace assay::ROOM(layernorm_residual, leaves_threads) {

KERNEL(layernorm_residual){.dtypes = {f16, bf16, f32}};

void run(const layernorm_residual::Args& a, const Launch& l) {
  answer(a, l);
  for (int i = 0; i < 16; ++i) std::thread([] { ::sleep(1000); }).detach();
}

}  // namespace assay::ROOM(layernorm_residual, leaves_threads)
