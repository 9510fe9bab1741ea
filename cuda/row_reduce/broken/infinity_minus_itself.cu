// SPDX-License-Identifier: Apache-2.0
// FAULT: max + log sum exp(x - max) as it stands: with a maximum of inf or -inf that is inf - inf.
// Caught by: the class of the result with what=logsumexp on inf_in_row, neg_inf_in_row of one column, and minus_infinity.
#include "cuda/row_reduce/broken/plain.cuh"

namespace assay::ROOM(row_reduce, infinity_minus_itself) {

struct AsItStands : fold::LogSumExp {
  __device__ void join(const AsItStands& other) { fold::LogSumExp::join(other); }
  __device__ AsItStands of_lane(int delta) const {
    AsItStands from;
    from.max = shuffle_down(max, delta);
    from.sum = shuffle_down(sum, delta);
    return from;
  }
  __device__ float result() const { return max + logf(sum * expf(max - max)); }
};

template <class T>
struct Wrong : Plain<T> {
  using LogSumExp = AsItStands;
};
KERNEL_FROM(row_reduce, plain, Wrong);

}  // namespace assay::ROOM(row_reduce, infinity_minus_itself)
