// SPDX-License-Identifier: Apache-2.0
// FAULT: cosines and sines are kept in the type of the tensors, as in a table that was cast with the model.
// Kind: precision
// Shows: f16 and bf16; f32 is right.
#include "cuda/rope/broken/plain.cuh"

namespace assay::ROOM(rope, tables_in_storage_type) {

template <class T>
struct CastTables : Plain<T> {
  __device__ static Rotation rotation(const Problem<T>& p, int i, std::int64_t position) {
    const Rotation t = rotation_by(angle_of(p.step, i, position));
    return {to_float(from_float<T>(t.cosine)), to_float(from_float<T>(t.sine))};
  }
};
KERNEL_FROM(rope, plain, CastTables);

}  // namespace assay::ROOM(rope, tables_in_storage_type)
