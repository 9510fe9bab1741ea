// SPDX-License-Identifier: Apache-2.0
// HOSTILE: prints 8 MiB a call.
// Expected: passed; the judge passes on a bounded part of it.
#include <unistd.h>

#include <string>

#include "validate/tests/hostile/plain.hpp"

namespace assay::ROOM(layernorm_residual, floods_stderr) {

KERNEL(layernorm_residual){.dtypes = {f16, bf16, f32}};

void run(const layernorm_residual::Args& a, const Launch& l) {
  answer(a, l);
  const std::string line(1 << 16, 'x');
  for (int i = 0; i < 128; ++i)
    if (::write(STDERR_FILENO, line.data(), line.size()) < 0) return;
}

}  // namespace assay::ROOM(layernorm_residual, floods_stderr)
