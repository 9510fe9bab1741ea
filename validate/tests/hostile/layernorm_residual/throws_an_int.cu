// SPDX-License-Identifier: Apache-2.0
// HOSTILE: throws what is no exception.
// Expected: crashed: signal 6.
#include "validate/tests/hostile/plain.hpp"

namespace assay::ROOM(layernorm_residual, throws_an_int) {

KERNEL(layernorm_residual){.dtypes = {f16, bf16, f32}};

void run(const layernorm_residual::Args& a, const Launch& l) {
  answer(a, l);
  throw 7;
}

}  // namespace assay::ROOM(layernorm_residual, throws_an_int)
