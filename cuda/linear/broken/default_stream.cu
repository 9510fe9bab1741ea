// SPDX-License-Identifier: Apache-2.0
// FAULT: large products are launched on the default stream, which the caller's stream does not wait for.
// Caught by: T4: simt sees the launch on a stream that is not joined; on a GPU the replay of a captured launch, which it is
// not part of. From 4096 outputs on.
#include "cuda/linear/broken/plain.cuh"

namespace assay::ROOM(linear, default_stream) {

KERNEL(linear){
    .dtypes = {f16, f32},
    .tiles = {tile(Axis::tokens, 1), tile(Axis::out, kPlainThreads)},
    .numerics = {.accumulate = f32, .chain = {.lanes = 1}},
};

void run(const linear::Args& a, const Launch& l) {
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch_plain<T, Plain<T>>(operands_of<T>(a), a.y.size() < 4096 ? l.stream : nullptr);
  });
}

}  // namespace assay::ROOM(linear, default_stream)
