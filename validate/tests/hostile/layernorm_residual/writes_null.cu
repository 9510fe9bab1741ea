// SPDX-License-Identifier: Apache-2.0
// HOSTILE: writes through a null pointer.
// Expected: crashed, by SIGSEGV.
#include "validate/tests/hostile/plain.hpp"

namespace assay::ROOM(layernorm_residual, writes_null) {

KERNEL(layernorm_residual){.dtypes = {f16, bf16, f32}};

void run(const layernorm_residual::Args& a, const Launch& l) {
  answer(a, l);
  static volatile int* const nowhere = nullptr;
  *nowhere = 1;
}

}  // namespace assay::ROOM(layernorm_residual, writes_null)
