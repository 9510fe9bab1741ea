// SPDX-License-Identifier: Apache-2.0
// The masking step of unfused attention: it sets the scores of hidden keys to -inf, in place.  Every score is read and written,
// as in the element-wise step of a framework.
#pragma once

#include "cuda/core/kernel.cuh"

namespace assay::ASSAY_FLAVOUR {

inline constexpr int kMaskThreads = 256;

// A row has `packs` packs.  Query i sees the keys up to i + above.
template <class T, int N>
__global__ void __launch_bounds__(kMaskThreads)
    mask_scores(T* scores, std::int64_t rows, std::int64_t packs, std::int64_t queries, std::int64_t above) {
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * kMaskThreads;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kMaskThreads + threadIdx.x; i < rows * packs; i += step) {
    const std::int64_t last = i / packs % queries + above, key = i % packs * N;
    auto* const at = reinterpret_cast<Vec<T, N>*>(scores) + i;
    Vec<T, N> v = ld(at);
#pragma unroll
    for (int j = 0; j < N; ++j)
      if (key + j > last) v[j] = from_float<T>(-INFINITY);
    st(at, v);
  }
}

// scores: [batch, queries, heads, keys], in memory [batch, heads, queries, keys], with rows padded to multiples of 16 bytes.
inline void run_mask_scores(const Tensor& scores, std::int64_t above, void* stream) {
  with_type(scores.dtype, [&]<class T>(Type<T>) {
    constexpr int N = 16 / sizeof(T);
    constexpr std::int64_t kMostBlocks = 1 << 20;  // each block loops if there is more work
    const std::int64_t rows = scores.shape[0] * scores.shape[1] * scores.shape[2], packs = scores.stride[1] / N;
    const std::int64_t blocks = std::min(ceil_div(rows * packs, kMaskThreads), kMostBlocks);
    launch(mask_scores<T, N>, {.grid = dim3(blocks), .block = dim3(kMaskThreads)}, stream, scores.as<T>(), rows, packs,
           scores.shape[1], above);
  });
}

}  // namespace assay::ASSAY_FLAVOUR
