// SPDX-License-Identifier: Apache-2.0
// FAULT: the sums that blocks add their parts of dQ to are not cleared, and begin with what the workspace holds.
// Caught by: the bound, wherever there is a query, for the workspace is garbage; right where it happens to be zeros.
#include "cuda/attention_backward/atomic_dq.cuh"

namespace assay::ROOM(attention_backward, dq_not_cleared) {

KERNEL(attention_backward) = kAtomicTraits;

template <class T>
struct Wrong : AtomicSteps<T> {
  static void clear(const attention_backward::Args&, const Launch&) {}
};

void run(const attention_backward::Args& a, const Launch& l) { run_atomic<Wrong>(a, l); }

}  // namespace assay::ROOM(attention_backward, dq_not_cleared)
