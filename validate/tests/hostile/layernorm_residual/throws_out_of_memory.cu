// SPDX-License-Identifier: Apache-2.0
// HOSTILE: says that memory has run out.
// Expected: skipped: the machine is named, which it lies about; but it is no pass.
#include <new>

#include "validate/tests/hostile/plain.hpp"

namespace assay::ROOM(layernorm_residual, throws_out_of_memory) {

KERNEL(layernorm_residual){.dtypes = {f16, bf16, f32}};

void run(const layernorm_residual::Args& a, const Launch& l) {
  answer(a, l);
  throw std::bad_alloc();
}

}  // namespace assay::ROOM(layernorm_residual, throws_out_of_memory)
