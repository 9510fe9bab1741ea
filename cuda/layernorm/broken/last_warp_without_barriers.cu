// SPDX-License-Identifier: Apache-2.0
// FAULT: beyond 4096 columns sums go by a tree in shared memory, whose last steps within one warp have no barriers, as before
// Volta.
// Kind: memory
// Caught by: the bound, with rows=1 cols=4097 (f16).
#include "cuda/layernorm/broken/plain.cuh"

namespace assay::ROOM(layernorm, last_warp_without_barriers) {

template <class T>
struct Wrong : Plain<T> {
  __device__ static float tree_total(float v) {
    float* const s = shared_memory<float>();
    const unsigned t = threadIdx.x;
    st(s + t, v);
    sync_block();
    if (t < 64) st(s + t, ld(s + t) + ld(s + t + 64));
    sync_block();
    if (t < 32)
      for (int step = 32; step > 0; step /= 2) st(s + t, ld(s + t) + ld(s + t + step));
    sync_block();
    const float all = ld(s);
    sync_block();
    return all;
  }
  template <class S>
  static __device__ Moments moments(const T* x, std::int64_t cols) {
    if (cols <= 4096) return Plain<T>::template moments<Plain<T>>(x, cols);
    float sum = 0, squares = 0;
    for (std::int64_t c = threadIdx.x; c < cols; c += kPlainThreads) sum += to_float(ld(x + c));
    const float mean = tree_total(sum) / static_cast<float>(cols);
    for (std::int64_t c = threadIdx.x; c < cols; c += kPlainThreads) {
      const float d = to_float(ld(x + c)) - mean;
      squares = fmaf(d, d, squares);
    }
    return {mean, tree_total(squares) / static_cast<float>(cols)};
  }
};

KERNEL(layernorm) = plain_traits<Wrong>();

void run(const layernorm::Args& a, const Launch& l) {
  if (a.x.shape[0] == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(layernorm_plain<T, Wrong<T>>,
           {.grid = dim3(a.x.shape[0]), .block = dim3(kPlainThreads), .shared_bytes = kPlainThreads * sizeof(float)}, l.stream,
           row_norm::matrices<T>(a));
  });
}

}  // namespace assay::ROOM(layernorm, last_warp_without_barriers)
