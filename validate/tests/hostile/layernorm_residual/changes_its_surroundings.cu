// SPDX-License-Identifier: Apache-2.0
// HOSTILE: changes the folder, the mask of new files, the environment and the locale.
// Expected: passed.
#include <sys/stat.h>
#include <unistd.h>

#include <clocale>
#include <cstdlib>

#include "validate/tests/hostile/plain.hpp"

namespace assay::ROOM(layernorm_residual, changes_its_surroundings) {

KERNEL(layernorm_residual){.dtypes = {f16, bf16, f32}};

void run(const layernorm_residual::Args& a, const Launch& l) {
  answer(a, l);
  if (::chdir("/") != 0) return;
  ::umask(0777);
  ::clearenv();
  std::setlocale(LC_ALL, "C.UTF-8");
}

}  // namespace assay::ROOM(layernorm_residual, changes_its_surroundings)
