// SPDX-License-Identifier: Apache-2.0
// HOSTILE: makes the mapping of its inputs writable.
// Expected: passed: the kernel of the system refuses it.  Else it gives a wrong answer.
#include <sys/mman.h>

#include <cstdio>
#include <cstring>

#include "validate/tests/hostile/plain.hpp"

namespace assay::ROOM(layernorm_residual, opens_the_seal) {

KERNEL(layernorm_residual){.dtypes = {f16, bf16, f32}};

void run(const layernorm_residual::Args& a, const Launch& l) {
  answer(a, l);
  std::FILE* maps = std::fopen("/proc/self/maps", "r");
  char line[512];
  while (maps && std::fgets(line, sizeof line, maps)) {
    unsigned long begin = 0, end = 0;
    if (!std::strstr(line, "memfd:assay") || !std::strstr(line, "r--s")) continue;
    if (std::sscanf(line, "%lx-%lx", &begin, &end) != 2) continue;
    if (::mprotect(reinterpret_cast<void*>(begin), end - begin, PROT_READ | PROT_WRITE) == 0) spoil(a, l);
  }
  if (maps) std::fclose(maps);
}

}  // namespace assay::ROOM(layernorm_residual, opens_the_seal)
