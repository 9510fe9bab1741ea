// SPDX-License-Identifier: Apache-2.0
// HOSTILE: writes past the end of a block of the heap, over the size of the next one, and frees that.
// Expected: crashed, whoever notices it first.
#include <cstdlib>

#include "validate/tests/hostile/plain.hpp"

namespace assay::ROOM(layernorm_residual, corrupts_heap) {

KERNEL(layernorm_residual){.dtypes = {f16, bf16, f32}};

void run(const layernorm_residual::Args& a, const Launch& l) {
  answer(a, l);
  char* volatile block = static_cast<char*>(std::malloc(24));
  char* volatile next = static_cast<char*>(std::malloc(24));
  if (next < block || next - block > 4096) std::abort();  // the heap lies otherwise here
  // Volatile, since a compiler leaves out writes to a block that is about to be freed.
  for (volatile char* p = block; p < next + 24; ++p) *p = 0x41;
  std::free(next);
  std::free(block);
  char* volatile many = static_cast<char*>(std::malloc(1 << 20));
  std::free(many);
}

}  // namespace assay::ROOM(layernorm_residual, corrupts_heap)
