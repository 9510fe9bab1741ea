// SPDX-License-Identifier: Apache-2.0
// FAULT: from 16,384 elements on every second call returns at once: the loop that is timed asks for the same again and again.
// Kind: cheat
// Caught by: two runs of 'y' differ, with rows=129 cols=257 (f16).
#include "cuda/rmsnorm/broken/plain.cuh"

namespace assay::ROOM(rmsnorm, every_second_call) {

KERNEL(rmsnorm) = plain_traits<Plain>();

void run(const rmsnorm::Args& a, const Launch& l) {
  static unsigned calls = 0;
  if (a.x.size() >= 16384 && calls++ % 2 == 1) return;
  run_plain<Plain>(a, l);
}

}  // namespace assay::ROOM(rmsnorm, every_second_call)
