// SPDX-License-Identifier: Apache-2.0
// FAULT: only the first batch is computed: the others keep what O and L held.
// Caught by: T1, and T4 by the two garbage patterns; more than one batch.
#include "cuda/attention_forward/broken/plain.cuh"

namespace assay::ROOM(attention_forward, first_batch_only) {

KERNEL(attention_forward) = plain_traits({f16, f32});

template <class T>
struct Wrong : Steps<T> {
  static int batches(const Problem<T>&) { return 1; }
};

void run(const attention_forward::Args& a, const Launch& l) { run_plain<Wrong>(a, l); }

}  // namespace assay::ROOM(attention_forward, first_batch_only)
