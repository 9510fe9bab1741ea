// SPDX-License-Identifier: Apache-2.0
// HOSTILE: opens the files that the judge has open.
// Expected: passed: it may not write them.  Else it gives a wrong answer.
#include <fcntl.h>
#include <unistd.h>

#include <string>

#include "validate/tests/hostile/plain.hpp"

namespace assay::ROOM(layernorm_residual, opens_the_record) {

KERNEL(layernorm_residual){.dtypes = {f16, bf16, f32}};

void run(const layernorm_residual::Args& a, const Launch& l) {
  answer(a, l);
  for (int fd = 3; fd < 64; ++fd) {
    const std::string file = "/proc/" + std::to_string(::getppid()) + "/fd/" + std::to_string(fd);
    char name[256] = {};
    if (::readlink(file.c_str(), name, sizeof name - 1) <= 0 || name[0] != '/' || std::string(name).starts_with("/memfd") ||
        std::string(name).starts_with("/dev"))
      continue;
    if (::open(name, O_WRONLY | O_TRUNC) >= 0 || ::open(file.c_str(), O_WRONLY) >= 0) spoil(a, l);
  }
}

}  // namespace assay::ROOM(layernorm_residual, opens_the_record)
