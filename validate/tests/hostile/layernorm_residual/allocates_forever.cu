// SPDX-License-Identifier: Apache-2.0
// HOSTILE: allocates memory until there is none.  It touches none of it, so that the test's machine is spared.
// Expected: failed: asked for more memory than a worker may have.
#include <cstddef>

#include "validate/tests/hostile/plain.hpp"

namespace assay::ROOM(layernorm_residual, allocates_forever) {

KERNEL(layernorm_residual){.dtypes = {f16, bf16, f32}};

char* volatile taken;

void run(const layernorm_residual::Args& a, const Launch& l) {
  answer(a, l);
  for (;;) taken = new char[std::size_t{256} << 20];
}

}  // namespace assay::ROOM(layernorm_residual, allocates_forever)
