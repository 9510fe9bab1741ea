// SPDX-License-Identifier: Apache-2.0
// FAULT: from 128 rows on the launch goes to the default stream, which the caller's stream does not wait for.
// Caught by: T4: simt sees the launch on a stream that is not joined; on a GPU the replay of a captured launch, which it is
// not part of.
#include "cuda/layernorm_residual/broken/plain.cuh"

namespace assay::ROOM(layernorm_residual, default_stream) {

template <class T>
struct Wrong : Plain<T> {
  static void* stream(const Rows<T>& m, const Launch& l) { return m.rows < 128 ? l.stream : nullptr; }
};
KERNEL_FROM(layernorm_residual, plain, Wrong, {f16, f32});

}  // namespace assay::ROOM(layernorm_residual, default_stream)
