// SPDX-License-Identifier: Apache-2.0
// FAULT: only the first batch is computed: the others keep what O and L held.
// Caught by: T1, and T4 by the two garbage patterns; more than one batch.
#include "cuda/attention_forward/broken/plain.cuh"

namespace assay::ROOM(attention_forward, first_batch_only) {

template <class T>
struct Wrong : Plain<T> {
  static int batches(const Problem<T>&) { return 1; }
};
KERNEL_FROM(attention_forward, plain, Wrong, {f16, f32});

}  // namespace assay::ROOM(attention_forward, first_batch_only)
