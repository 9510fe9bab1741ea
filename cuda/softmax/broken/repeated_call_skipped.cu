// SPDX-License-Identifier: Apache-2.0
// FAULT: from 4096 elements on, a call with the pointers and extents of the one before is taken for the same and skipped.
// Caught by: T4, the second run differs from the first; rows * cols of 4096 or more.
#include "cuda/softmax/broken/plain.cuh"

namespace assay::ROOM(softmax, repeated_call_skipped) {

KERNEL(softmax) = plain_traits<Plain>({f16, f32});

void run(const softmax::Args& a, const Launch& l) {
  struct Call {
    const void *x, *y;
    std::int64_t rows, cols;
    bool operator==(const Call&) const = default;
  };
  static Call before{};
  const Call call{a.x.data, a.y.data, a.x.shape[0], a.x.shape[1]};
  if (call.rows * call.cols >= 4096 && call == before) return;
  before = call;
  run_plain<Plain>(a, l);
}

}  // namespace assay::ROOM(softmax, repeated_call_skipped)
