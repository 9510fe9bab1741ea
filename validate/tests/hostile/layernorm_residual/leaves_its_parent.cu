// SPDX-License-Identifier: Apache-2.0
// HOSTILE: asks not to end with the judge, and takes another name.
// Expected: passed.
#include <sys/prctl.h>

#include "validate/tests/hostile/plain.hpp"

namespace assay::ROOM(layernorm_residual, leaves_its_parent) {

KERNEL(layernorm_residual){.dtypes = {f16, bf16, f32}};

void run(const layernorm_residual::Args& a, const Launch& l) {
  answer(a, l);
  ::prctl(PR_SET_PDEATHSIG, 0);
  ::prctl(PR_SET_DUMPABLE, 0);
  ::prctl(PR_SET_CHILD_SUBREAPER, 0);
  ::prctl(PR_SET_NAME, "judge");
}

}  // namespace assay::ROOM(layernorm_residual, leaves_its_parent)
