// SPDX-License-Identifier: Apache-2.0
// HOSTILE: leaves a function of the C library by longjmp.
// Expected: passed.
#include <setjmp.h>

#include <cstdlib>

#include "validate/tests/hostile/plain.hpp"

namespace assay::ROOM(layernorm_residual, jumps_over_frames) {

KERNEL(layernorm_residual){.dtypes = {f16, bf16, f32}};

static jmp_buf place;

void run(const layernorm_residual::Args& a, const Launch& l) {
  answer(a, l);
  int values[] = {2, 1, 3};
  if (setjmp(place) == 0) std::qsort(values, 3, sizeof values[0], [](const void*, const void*) -> int { longjmp(place, 1); });
}

}  // namespace assay::ROOM(layernorm_residual, jumps_over_frames)
