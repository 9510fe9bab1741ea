// SPDX-License-Identifier: Apache-2.0
// FAULT: positions go in parts of 256, and the output so far is rounded to the type of the tensors at the end of each part.
// Kind: precision
// Shows: sequences of more than 256 positions, in f16 and bf16.
#include "cuda/paged_attention/broken/plain.cuh"

namespace assay::ROOM(paged_attention, parts_kept_in_storage_type) {

template <class T>
struct RoundedParts : Plain<T> {
  template <class Take>
  static __device__ bool attend(int end, Part& part, Take&& take) {
    for (int begin = 0; begin < end; begin += 256) {
      take(begin, begin + 256 < end ? begin + 256 : end, part);
      if (begin + 256 >= end || part.sum == 0) continue;
      for (int c = 0; c < kPlainChannels; ++c) part.o[c] = to_float(from_float<T>(part.o[c] / part.sum)) * part.sum;
    }
    return true;
  }
};
KERNEL_FROM(paged_attention, plain, RoundedParts);

}  // namespace assay::ROOM(paged_attention, parts_kept_in_storage_type)
