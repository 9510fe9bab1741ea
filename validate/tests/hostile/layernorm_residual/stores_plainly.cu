// SPDX-License-Identifier: Apache-2.0
// HOSTILE: stores its output with a plain assignment, which the simulated machine does not see.
// Expected: passed; with --watch unsupported, since the watch does not see its stores.
#include "validate/tests/hostile/plain.hpp"

namespace assay::ROOM(layernorm_residual, stores_plainly) {

KERNEL(layernorm_residual){.dtypes = {f16, bf16, f32}};

void run(const layernorm_residual::Args& a, const Launch& l) { answer<false>(a, l); }

}  // namespace assay::ROOM(layernorm_residual, stores_plainly)
