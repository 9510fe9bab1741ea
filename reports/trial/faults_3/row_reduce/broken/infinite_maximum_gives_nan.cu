// SPDX-License-Identifier: Apache-2.0
// FAULT: logsumexp is always maximum + log(sum), which is NaN where the maximum is infinite.
// Kind: ranges
// Shows: what=logsumexp of rows with +inf.
#include "cuda/row_reduce/broken/plain.cuh"

namespace assay::ROOM(row_reduce, infinite_maximum_gives_nan) {

template <class T>
struct Unguarded : Plain<T> {
  struct LogSumExp : fold::LogSumExp {
    __device__ LogSumExp() = default;
    __device__ LogSumExp(const fold::LogSumExp& f) : fold::LogSumExp(f) {}
    __device__ LogSumExp of_lane(int delta) const { return fold::LogSumExp::of_lane(delta); }
    __device__ float result() const { return max + logf(sum); }
  };
};
KERNEL_FROM(row_reduce, plain, Unguarded);

}  // namespace assay::ROOM(row_reduce, infinite_maximum_gives_nan)
