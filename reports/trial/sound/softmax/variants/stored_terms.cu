// SPDX-License-Identifier: Apache-2.0
// A row a block; the sum is of the exact terms, but each term is rounded to the dtype before it is divided, as where it waits
// in y.
#include "cuda/softmax/broken/plain.cuh"

namespace assay::ROOM(softmax, stored_terms) {

template <class T>
struct Stored : Plain<T> {
  static __device__ float waiting(float term) { return to_float(from_float<T>(term)); }
};
KERNEL_DECLARING(softmax, plain, Stored,
                 (Numerics{.accumulate = f32, .chain = {.lanes = kPlainThreads, .extra = 10}, .stores_intermediate = true}));

}  // namespace assay::ROOM(softmax, stored_terms)
