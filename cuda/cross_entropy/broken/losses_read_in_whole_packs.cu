// SPDX-License-Identifier: Apache-2.0
// FAULT: the mean reads the losses in fours, the last ones with up to three floats beyond them, which are not added.
// Kind: memory
// Caught by: out_of_bounds, with tokens=1 vocab=2 (f16).
#include "cuda/cross_entropy/broken/plain.cuh"

namespace assay::ROOM(cross_entropy, losses_read_in_whole_packs) {

__global__ void mean_of_packs(const float* loss, float* mean, std::int64_t tokens) {
  float sum = 0;
  for (std::int64_t t = threadIdx.x * 4; t < tokens; t += kMeanThreads * 4) {
    const auto pack = ld(reinterpret_cast<const Vec<float, 4>*>(loss + t));
    for (int j = 0; j < 4; ++j) sum += t + j < tokens ? pack[j] : 0.0f;
  }
  sum = block_sum(sum, shared_memory<float>());
  if (threadIdx.x == 0) st(mean, sum / static_cast<float>(tokens));
}

template <class T>
struct Wrong : Plain<T> {
  static void mean(const cross_entropy::Args& a, const Launch& l) {
    if (!a.loss.rows_aligned(16)) return Plain<T>::mean(a, l);
    launch(mean_of_packs, {.grid = dim3(1), .block = dim3(kMeanThreads), .shared_bytes = kWarp * sizeof(float)}, l.stream,
           a.loss.as<float>(), a.mean.as<float>(), a.x.shape[0]);
  }
};
KERNEL_FROM(cross_entropy, plain, Wrong);

}  // namespace assay::ROOM(cross_entropy, losses_read_in_whole_packs)
