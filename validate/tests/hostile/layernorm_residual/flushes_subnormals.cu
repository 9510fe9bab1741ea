// SPDX-License-Identifier: Apache-2.0
// HOSTILE: makes the processor flush subnormals to zero, and leaves it so.
// Expected: its own verdict alone.
#include "validate/tests/hostile/plain.hpp"

namespace assay::ROOM(layernorm_residual, flushes_subnormals) {

KERNEL(layernorm_residual){.dtypes = {f16, bf16, f32}};

void run(const layernorm_residual::Args& a, const Launch& l) {
  answer(a, l);
#if defined(__x86_64__)
  __builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() | 0x8040);
#endif
}

}  // namespace assay::ROOM(layernorm_residual, flushes_subnormals)
