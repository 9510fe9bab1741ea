// SPDX-License-Identifier: Apache-2.0
// HOSTILE: fails an assertion on the device.
// Expected: crashed by SIGABRT on simt; failed on a GPU, where it ends the context.
#undef NDEBUG
#include <cassert>

#include "validate/tests/hostile/plain.hpp"

namespace assay::ROOM(layernorm_residual, asserts) {

KERNEL(layernorm_residual){.dtypes = {f16, bf16, f32}};

template <class Int>
__global__ void disappoint(Int n) {
  assert(n == 0);
}

void run(const layernorm_residual::Args& a, const Launch& l) {
  answer(a, l);
  launch(disappoint<int>, {.grid = dim3(1), .block = dim3(1)}, l.stream, 1);
}

}  // namespace assay::ROOM(layernorm_residual, asserts)
