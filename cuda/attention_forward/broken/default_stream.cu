// SPDX-License-Identifier: Apache-2.0
// FAULT: more than 64 queries are launched on the default stream, which the caller's stream does not wait for.
// Caught by: T4: simt sees the launch on a stream that is not joined; on a GPU the replay of a captured launch, which it is
// not part of.
#include "cuda/attention_forward/broken/plain.cuh"

namespace assay::ROOM(attention_forward, default_stream) {

KERNEL(attention_forward) = plain_traits({f16, f32});

template <class T>
struct Wrong : Steps<T> {
  static void* stream(const Problem<T>& p, const Launch& l) { return p.queries <= 64 ? l.stream : nullptr; }
};

void run(const attention_forward::Args& a, const Launch& l) { run_plain<Wrong>(a, l); }

}  // namespace assay::ROOM(attention_forward, default_stream)
