// SPDX-License-Identifier: Apache-2.0
// FAULT: beyond 512 tokens, several blocks, each loss is added to the mean by atomics, and nobody clears the mean.
// Kind: earlier_calls
// Caught by: the bound, with tokens=1031 vocab=33 (f16).
#include "cuda/cross_entropy/broken/plain.cuh"

namespace assay::ROOM(cross_entropy, mean_added_to_output) {

__global__ void mean_by_atomics(const float* loss, float* mean, std::int64_t tokens) {
  const std::int64_t t = static_cast<std::int64_t>(blockIdx.x) * kMeanThreads + threadIdx.x;
  const float sum = block_sum(t < tokens ? ld(loss + t) : 0.0f, shared_memory<float>());
  if (threadIdx.x == 0) atomic_add(mean, sum / static_cast<float>(tokens));
}

template <class T>
struct Wrong : Plain<T> {
  static void mean(const cross_entropy::Args& a, const Launch& l) {
    const std::int64_t tokens = a.x.shape[0];
    if (tokens <= kMeanThreads) return Plain<T>::mean(a, l);
    launch(mean_by_atomics,
           {.grid = dim3(ceil_div(tokens, kMeanThreads)), .block = dim3(kMeanThreads), .shared_bytes = kWarp * sizeof(float)},
           l.stream, a.loss.as<float>(), a.mean.as<float>(), tokens);
  }
};

constexpr KernelTraits<cross_entropy> declared() {
  KernelTraits<cross_entropy> traits = plain_traits<Wrong>();
  traits.deterministic = false;
  return traits;
}
KERNEL(cross_entropy) = declared();

void run(const cross_entropy::Args& a, const Launch& l) { run_plain<Wrong>(a, l); }

}  // namespace assay::ROOM(cross_entropy, mean_added_to_output)
