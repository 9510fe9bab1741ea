// SPDX-License-Identifier: Apache-2.0
// FAULT: large products are launched on the default stream, which the caller's stream does not wait for.
// Caught by: T4: simt sees the launch on a stream that is not joined; on a GPU the replay of a captured launch, which it is
// not part of. From 4096 outputs on.
#include "cuda/linear/broken/plain.cuh"

namespace assay::ROOM(linear, default_stream) {

template <class T>
struct Wrong : Plain<T> {
  static void* stream(const linear::Args& a, const Launch& l) { return a.y.size() < 4096 ? l.stream : nullptr; }
};
KERNEL_FROM(linear, plain, Wrong, {f16, f32});

}  // namespace assay::ROOM(linear, default_stream)
