// SPDX-License-Identifier: Apache-2.0
// HOSTILE: sets its limits to nothing.
// Expected: its own verdict alone.
#include <sys/resource.h>

#include "validate/tests/hostile/plain.hpp"

namespace assay::ROOM(layernorm_residual, lowers_its_limits) {

KERNEL(layernorm_residual){.dtypes = {f16, bf16, f32}};

void run(const layernorm_residual::Args& a, const Launch& l) {
  answer(a, l);
  const rlimit none{0, 0};
  for (const int each : {RLIMIT_DATA, RLIMIT_NOFILE, RLIMIT_FSIZE, RLIMIT_STACK, RLIMIT_NPROC})
    ::setrlimit(static_cast<decltype(RLIMIT_DATA)>(each), &none);
}

}  // namespace assay::ROOM(layernorm_residual, lowers_its_limits)
