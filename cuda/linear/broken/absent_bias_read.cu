// SPDX-License-Identifier: Apache-2.0
// FAULT: the bias is read whether there is one or not.
// Caught by: T4, the access through null, which ends the worker on a GPU; without a bias.
#include "cuda/linear/broken/plain.cuh"

namespace assay::ROOM(linear, absent_bias_read) {

template <class T>
struct Wrong : Plain<T> {
  __device__ static float add_bias(const Operands<T>& p, float sum, std::int64_t, std::int64_t o) { return sum + p.bias_at(o); }
};
KERNEL_FROM(linear, plain, Wrong, {f16, f32});

}  // namespace assay::ROOM(linear, absent_bias_read)
