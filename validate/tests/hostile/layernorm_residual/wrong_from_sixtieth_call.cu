// SPDX-License-Identifier: Apache-2.0
// A candidate that keeps a count of its calls, and computes nothing from the sixtieth on.
#include "validate/tests/hostile/plain.hpp"

namespace assay::ROOM(layernorm_residual, wrong_from_sixtieth_call) {

KERNEL(layernorm_residual){
    .dtypes = {f16, bf16, f32},
    .numerics = {.accumulate = f32},
};

void run(const layernorm_residual::Args& a, const Launch& l) {
  static int calls = 0;
  if (++calls < 60) answer(a, l);
}

}  // namespace assay::ROOM(layernorm_residual, wrong_from_sixtieth_call)
