// SPDX-License-Identifier: Apache-2.0
// FAULT: the maximum is taken with what y already holds, as a running maximum over calls.
// Kind: cheats
// Shows: what=max into a y that holds a larger number.
#include "cuda/row_reduce/broken/plain.cuh"

namespace assay::ROOM(row_reduce, old_maximum_kept) {

template <class T>
__global__ void maximum_with_old(const T* x, float* y, std::int64_t cols, std::int64_t stride) {
  x += blockIdx.x * stride;
  fold::Max f;
  fold::take_packs<1, 1>(f, x, threadIdx.x, cols, kPlainThreads);
  f = fold::join_block(f, shared_memory<fold::Max>());
  if (threadIdx.x == 0) {
    const float old = ld(y + blockIdx.x);
    st(y + blockIdx.x, old > f.value ? old : f.value);
  }
}

KERNEL(row_reduce) = plain_traits<Plain>();

void run(const row_reduce::Args& a, const Launch& l) {
  if (a.what != Reduction::max) return run_plain<Plain>(a, l);
  if (a.x.shape[0] == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(maximum_with_old<T>, {.grid = dim3(a.x.shape[0]), .block = dim3(kPlainThreads), .shared_bytes = kWarp * sizeof(float)},
           l.stream, a.x.as<T>(), a.y.as<float>(), a.x.shape[1], a.x.stride[0]);
  });
}

}  // namespace assay::ROOM(row_reduce, old_maximum_kept)
