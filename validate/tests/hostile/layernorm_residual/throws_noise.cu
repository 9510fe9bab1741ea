// SPDX-License-Identifier: Apache-2.0
// HOSTILE: throws an exception that is long and full of control characters.
// Expected: failed, with a reason on one line.
#include <stdexcept>
#include <string>

#include "validate/tests/hostile/plain.hpp"

namespace assay::ROOM(layernorm_residual, throws_noise) {

KERNEL(layernorm_residual){.dtypes = {f16, bf16, f32}};

void run(const layernorm_residual::Args& a, const Launch& l) {
  answer(a, l);
  throw std::runtime_error("\033[2J\302\233[31m\nloud" + std::string(1 << 20, '!'));
}

}  // namespace assay::ROOM(layernorm_residual, throws_noise)
