// SPDX-License-Identifier: Apache-2.0
// SOUND: a block for each token, maximum and sum in two passes by exp2; then blocks of 256 tokens add losses, and one adds their sums.
#include "cuda/core/kernel.cuh"
#include "cuda/core/reduce.cuh"
#include "ops/cross_entropy.hpp"

namespace assay::ROOM(cross_entropy, block_two_pass) {

inline constexpr int kThreads = 256;

std::size_t scratch(const cross_entropy::Args& a) { return static_cast<std::size_t>(ceil_div(a.x.shape[0], kThreads)) * sizeof(float); }

KERNEL(cross_entropy){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::vocab, kThreads)},
    .numerics = {.accumulate = f32, .chain = {.lanes = 256, .extra = 22}},
    .workspace_bytes = scratch,
};

template <class T>
__global__ void losses(const T* x, const int* target, float* loss, std::int64_t vocab, std::int64_t stride) {
  constexpr float kLog2E = 1.4426950408889634f, kLn2 = 0.6931471805599453f;
  float* partial = shared_memory<float>();
  const std::int64_t token = blockIdx.x;
  const T* row = x + token * stride;
  float max = -INFINITY, sum = 0;
  for (std::int64_t c = threadIdx.x; c < vocab; c += kThreads) max = fmaxf(max, to_float(ld(row + c)));
  max = block_max(max, partial);
  for (std::int64_t c = threadIdx.x; c < vocab; c += kThreads) sum += exp2f((to_float(ld(row + c)) - max) * kLog2E);
  sum = block_sum(sum, partial);
  if (threadIdx.x == 0) {
    const float of_target = to_float(ld(row + ld(target + token)));
    st(loss + token, log2f(sum) * kLn2 + (max - of_target));
  }
}

__global__ void partial_sums(const float* loss, float* sums, std::int64_t tokens) {
  const std::int64_t t = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  const float sum = block_sum(t < tokens ? ld(loss + t) : 0.0f, shared_memory<float>());
  if (threadIdx.x == 0) st(sums + blockIdx.x, sum);
}

__global__ void mean_of(const float* sums, float* mean, std::int64_t parts, std::int64_t tokens) {
  float sum = 0;
  for (std::int64_t i = threadIdx.x; i < parts; i += kThreads) sum += ld(sums + i);
  sum = block_sum(sum, shared_memory<float>());
  if (threadIdx.x == 0) st(mean, sum / static_cast<float>(tokens));
}

void run(const cross_entropy::Args& a, const Launch& l) {
  const std::int64_t tokens = a.x.shape[0], parts = ceil_div(tokens, kThreads);
  constexpr std::size_t kShared = kWarp * sizeof(float);
  float *loss = a.loss.as<float>(), *sums = static_cast<float*>(l.workspace);
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(losses<T>, {.grid = dim3(static_cast<unsigned>(tokens)), .block = dim3(kThreads), .shared_bytes = kShared}, l.stream,
           a.x.as<T>(), a.target.as<int>(), loss, a.x.shape[1], a.x.stride[0]);
  });
  launch(partial_sums, {.grid = dim3(static_cast<unsigned>(parts)), .block = dim3(kThreads), .shared_bytes = kShared}, l.stream, loss,
         sums, tokens);
  launch(mean_of, {.grid = dim3(1), .block = dim3(kThreads), .shared_bytes = kShared}, l.stream, sums, a.mean.as<float>(), parts,
         tokens);
}

}  // namespace assay::ROOM(cross_entropy, block_two_pass)
