// SPDX-License-Identifier: Apache-2.0
// HOSTILE: calls a library that this machine does not have.
// Expected: skipped, with the reason, and never launched.
#include <cstdlib>

#include "validate/tests/hostile/plain.hpp"

namespace assay::ROOM(layernorm_residual, lacks_a_library) {

Legality available() { return Legality::no("libnowhere is missing: no such file"); }

KERNEL(layernorm_residual){.dtypes = {f16, bf16, f32}, .available = available};

void run(const layernorm_residual::Args&, const Launch&) { std::abort(); }

}  // namespace assay::ROOM(layernorm_residual, lacks_a_library)
