// SPDX-License-Identifier: Apache-2.0
// FAULT: from 128 rows on the launch goes to the default stream, which the caller's stream does not wait for.
// Caught by: T4: simt sees the launch on a stream that is not joined; on a GPU the replay of a captured launch, which it is
// not part of.
#include "cuda/layernorm_residual/broken/plain.cuh"

namespace assay::ROOM(layernorm_residual, default_stream) {

KERNEL(layernorm_residual){
    .dtypes = {f16, f32},
    .tiles = {tile(Axis::rows, 1), tile(Axis::cols, kPlainThreads)},
    .numerics = {.accumulate = f32, .chain = {.lanes = kPlainThreads, .extra = 10}},
};

void run(const layernorm_residual::Args& a, const Launch& l) {
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch_plain<T, Plain<T>>(rows_of<T>(a), a.x.shape[0] < 128 ? l.stream : nullptr);
  });
}

}  // namespace assay::ROOM(layernorm_residual, default_stream)
