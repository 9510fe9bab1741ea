// SPDX-License-Identifier: Apache-2.0
// HOSTILE: throws through a function of the C library.
// Expected: failed: thrown through C.
#include <cstdlib>
#include <stdexcept>

#include "validate/tests/hostile/plain.hpp"

namespace assay::ROOM(layernorm_residual, throws_through_c) {

KERNEL(layernorm_residual){.dtypes = {f16, bf16, f32}};

void run(const layernorm_residual::Args& a, const Launch& l) {
  answer(a, l);
  int values[] = {2, 1, 3};
  std::qsort(values, 3, sizeof values[0], [](const void*, const void*) -> int { throw std::runtime_error("thrown through C"); });
}

}  // namespace assay::ROOM(layernorm_residual, throws_through_c)
