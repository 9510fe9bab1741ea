// SPDX-License-Identifier: Apache-2.0
// FAULT: the last page is taken whole: slots past the end weigh zero, and zero times what they hold is added.
// Caught by: the comparison: what nobody has written yet is NaN, and zero times NaN is NaN.
#include "cuda/paged_attention/broken/plain.cuh"

namespace assay::ROOM(paged_attention, tail_not_zeroed) {

template <class T>
struct Wrong : Plain<T> {
  static __device__ int end(const Paged<T>& p, int visible) { return (visible + p.page_size - 1) / p.page_size * p.page_size; }
  static __device__ float score(const Paged<T>& p, float dot, int key, int visible) {
    return key < visible ? dot * p.scale : -INFINITY;
  }
};
KERNEL_FROM(paged_attention, plain, Wrong);

}  // namespace assay::ROOM(paged_attention, tail_not_zeroed)
