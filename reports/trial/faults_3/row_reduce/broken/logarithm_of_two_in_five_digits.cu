// SPDX-License-Identifier: Apache-2.0
// FAULT: the logarithm is log2 times 0.69315, which is off by 4e-6.
// Kind: precision
// Shows: what=logsumexp.
#include "cuda/row_reduce/broken/plain.cuh"

namespace assay::ROOM(row_reduce, logarithm_of_two_in_five_digits) {

template <class T>
struct FiveDigits : Plain<T> {
  struct LogSumExp : fold::LogSumExp {
    __device__ LogSumExp() = default;
    __device__ LogSumExp(const fold::LogSumExp& f) : fold::LogSumExp(f) {}
    __device__ LogSumExp of_lane(int delta) const { return fold::LogSumExp::of_lane(delta); }
    __device__ float result() const { return fabsf(max) < INFINITY ? max + log2f(sum) * 0.69315f : max; }
  };
};
KERNEL_FROM(row_reduce, plain, FiveDigits);

}  // namespace assay::ROOM(row_reduce, logarithm_of_two_in_five_digits)
