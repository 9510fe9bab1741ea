// SPDX-License-Identifier: Apache-2.0
// HOSTILE: stops its process, which then neither ends nor answers.
// Expected: timeout.
#include <csignal>

#include "validate/tests/hostile/plain.hpp"

namespace assay::ROOM(layernorm_residual, stops_itself) {

KERNEL(layernorm_residual){.dtypes = {f16, bf16, f32}};

void run(const layernorm_residual::Args& a, const Launch& l) {
  answer(a, l);
  std::raise(SIGSTOP);
}

}  // namespace assay::ROOM(layernorm_residual, stops_itself)
