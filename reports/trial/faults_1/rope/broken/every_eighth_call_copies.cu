// SPDX-License-Identifier: Apache-2.0
// FAULT: every eighth call only copies q and k, since time is measured over many calls and results are compared once.
// Kind: cheats
// Shows: the eighth call of a process.
#include "cuda/rope/broken/plain.cuh"

namespace assay::ROOM(rope, every_eighth_call_copies) {

template <class T>
struct Copies : Plain<T> {
  __device__ static Rotation rotation(const Problem<T>&, int, std::int64_t) { return {1.0f, 0.0f}; }
};

KERNEL(rope) = plain_traits<Plain>();

void run(const rope::Args& a, const Launch& l) {
  static int calls = 0;
  if (++calls % 8 == 0) run_plain<Copies>(a, l);
  else run_plain<Plain>(a, l);
}

}  // namespace assay::ROOM(rope, every_eighth_call_copies)
