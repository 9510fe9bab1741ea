// SPDX-License-Identifier: Apache-2.0
// FAULT: the query is scaled and rounded to the type of the tensors before the products.
// Kind: precision
// Shows: f16 and bf16 where the scale is no power of two.
#include "cuda/attention_scores/broken/plain.cuh"

namespace assay::ROOM(attention_scores, query_scaled_in_storage_type) {

template <class T>
struct Prescaled : Plain<T> {
  static __device__ float query_value(const Problem<T>& m, T q) { return to_float(from_float<T>(to_float(q) * m.scale)); }
  static __device__ float score(const Problem<T>&, float dot, std::int64_t, std::int64_t) { return dot; }
};
KERNEL_FROM(attention_scores, plain, Prescaled);

}  // namespace assay::ROOM(attention_scores, query_scaled_in_storage_type)
