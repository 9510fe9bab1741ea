// SPDX-License-Identifier: Apache-2.0
// HOSTILE: declares that it takes no NaN and no infinity, and complains where it is given one.
// Expected: unsupported there and never launched, whatever lies between the rows.
#include <stdexcept>

#include "validate/tests/hostile/layernorm_residual/plain.hpp"

namespace assay::ROOM(layernorm_residual, takes_finite) {

KERNEL(layernorm_residual){.dtypes = {f16, bf16, f32}, .finite_inputs = true};

void run(const layernorm_residual::Args& a, const Launch&) {
  for (std::int64_t i = 0; i < a.x.size(); ++i)
    if (!std::isfinite(a.x.at(i))) throw std::runtime_error("not finite");
  answer(a);
}

}  // namespace assay::ROOM(layernorm_residual, takes_finite)
