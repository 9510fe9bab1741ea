// SPDX-License-Identifier: Apache-2.0
// HOSTILE: doubles one element of a right answer.
// Expected: failed.
#include "validate/tests/hostile/plain.hpp"

namespace assay::ROOM(layernorm_residual, doubles_an_element) {

KERNEL(layernorm_residual){.dtypes = {f16, bf16, f32}};

void run(const layernorm_residual::Args& a, const Launch& l) {
  answer(a, l);
  spoil(a, l);
}

}  // namespace assay::ROOM(layernorm_residual, doubles_an_element)
