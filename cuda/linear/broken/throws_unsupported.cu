// SPDX-License-Identifier: Apache-2.0
// FAULT: channels that are no multiple of 8 end in an exception, and the declaration does not say that they are unsupported.
// Caught by: T4, the launch fails; hidden no multiple of 8.
#include "cuda/linear/broken/plain.cuh"

namespace assay::ROOM(linear, throws_unsupported) {

KERNEL(linear) = plain_traits<Plain>({f16, f32});

void run(const linear::Args& a, const Launch& l) {
  if (a.y.size() > 0 && a.x.shape[1] % 8) throw std::invalid_argument("hidden must be a multiple of 8");
  run_plain<Plain>(a, l);
}

}  // namespace assay::ROOM(linear, throws_unsupported)
