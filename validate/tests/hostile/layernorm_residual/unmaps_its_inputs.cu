// SPDX-License-Identifier: Apache-2.0
// HOSTILE: drops the mapping of its inputs.
// Expected: crashed: signal 11.
#include <sys/mman.h>

#include <cstdio>
#include <cstring>

#include "validate/tests/hostile/plain.hpp"

namespace assay::ROOM(layernorm_residual, unmaps_its_inputs) {

KERNEL(layernorm_residual){.dtypes = {f16, bf16, f32}};

void run(const layernorm_residual::Args& a, const Launch& l) {
  answer(a, l);
  std::FILE* maps = std::fopen("/proc/self/maps", "r");
  char line[512];
  while (maps && std::fgets(line, sizeof line, maps)) {
    unsigned long begin = 0, end = 0;
    if (std::strstr(line, "memfd:assay") && std::sscanf(line, "%lx-%lx", &begin, &end) == 2)
      ::munmap(reinterpret_cast<void*>(begin), end - begin);
  }
  if (maps) std::fclose(maps);
}

}  // namespace assay::ROOM(layernorm_residual, unmaps_its_inputs)
