// SPDX-License-Identifier: Apache-2.0
// FAULT: more than 64 queries are launched on the default stream, which the caller's stream does not wait for.
// Caught by: T4: simt sees the launch on a stream that is not joined; on a GPU the replay of a captured launch, which it is
// not part of.
#include "cuda/attention_forward/broken/plain.cuh"

namespace assay::ROOM(attention_forward, default_stream) {

template <class T>
struct Wrong : Plain<T> {
  static void* stream(const Problem<T>& p, const Launch& l) { return p.queries <= 64 ? l.stream : nullptr; }
};
KERNEL_FROM(attention_forward, plain, Wrong, {f16, f32});

}  // namespace assay::ROOM(attention_forward, default_stream)
