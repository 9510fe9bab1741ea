// SPDX-License-Identifier: Apache-2.0
// HOSTILE: writes to the memory of its inputs through its descriptors.
// Expected: passed: it is sealed.  Else it gives a wrong answer.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <string>

#include "validate/tests/hostile/plain.hpp"

namespace assay::ROOM(layernorm_residual, writes_sealed_inputs) {

KERNEL(layernorm_residual){.dtypes = {f16, bf16, f32}};

void run(const layernorm_residual::Args& a, const Launch& l) {
  answer(a, l);
  constexpr int kSealFutureWrite = 0x10;
  for (int fd = 3; fd < 64; ++fd) {
    const int seals = ::fcntl(fd, F_GET_SEALS);
    if (seals < 0 || !(seals & kSealFutureWrite)) continue;
    const int again = ::open(("/proc/self/fd/" + std::to_string(fd)).c_str(), O_RDWR);
    for (const int each : {fd, again}) {
      if (::pwrite(each, "x", 1, 0) > 0 || ::ftruncate(each, 0) == 0) spoil(a, l);
      if (::mmap(nullptr, 1, PROT_READ | PROT_WRITE, MAP_SHARED, each, 0) != MAP_FAILED) spoil(a, l);
    }
  }
}

}  // namespace assay::ROOM(layernorm_residual, writes_sealed_inputs)
