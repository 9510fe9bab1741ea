// SPDX-License-Identifier: Apache-2.0
// A token in three parts, a warp each, whose maxima and sums wait in the workspace; a second launch joins them, each sum rescaled
// once, and a third one takes the mean.
#include "cuda/core/fold.cuh"
#include "cuda/core/kernel.cuh"
#include "cuda/core/reduce.cuh"
#include "ops/cross_entropy.hpp"

namespace assay::ROOM(cross_entropy, three_parts) {

inline constexpr std::int64_t kParts = 3;
inline constexpr int kThreads = 3 * kWarp;

struct alignas(8) Part {
  float max, sum;
};
std::size_t workspace_bytes(const cross_entropy::Args& a) {
  return static_cast<std::size_t>(a.x.shape[0] * kParts) * sizeof(Part);
}
// 96 lanes of a token, or of the mean; five additions in a warp, two to join three.
KERNEL(cross_entropy){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::tokens, kThreads), tile(Axis::vocab, kThreads)},
    .numerics = {.accumulate = f32,
                 .chain = {.lanes = kThreads, .extra = 5 + 2},
                 .rescales = {.lanes = std::int64_t{1} << 40, .extra = 0}},
    .workspace_bytes = workspace_bytes,
};

template <class T>
__global__ void cross_entropy_three_parts(const T* x, Part* parts, std::int64_t vocab, std::int64_t stride) {
  const std::int64_t token = blockIdx.x / kParts, part = blockIdx.x % kParts;
  x += token * stride;
  Part mine{-INFINITY, 0};
  for (std::int64_t c = part * kWarp + lane_id(); c < vocab; c += kThreads) mine.max = fold::larger(mine.max, to_float(ld(x + c)));
  for (int offset = kWarp / 2; offset > 0; offset /= 2) mine.max = fold::larger(mine.max, shuffle_xor(mine.max, offset));
  if (fabsf(mine.max) < INFINITY)
    for (std::int64_t c = part * kWarp + lane_id(); c < vocab; c += kThreads) mine.sum += expf(to_float(ld(x + c)) - mine.max);
  mine.sum = warp_sum(mine.sum);
  if (lane_id() == 0) st(parts + blockIdx.x, mine);
}

template <class T>
__global__ void cross_entropy_three_parts_joined(const T* x, const std::int32_t* target, const Part* parts, float* loss,
                                                 std::int64_t tokens, std::int64_t stride) {
  const std::int64_t token = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (token >= tokens) return;
  parts += token * kParts;
  float max = -INFINITY, sum = 0;
  for (int p = 0; p < kParts; ++p) max = fold::larger(max, ld(parts + p).max);
  for (int p = 0; p < kParts; ++p) sum += ld(parts + p).sum * expf(ld(parts + p).max - max);
  const float of_target = to_float(ld(x + token * stride + ld(target + token)));
  st(loss + token, fabsf(max) < INFINITY ? logf(sum) + (max - of_target) : NAN);
}

__global__ void cross_entropy_three_parts_mean(const float* loss, float* mean, std::int64_t tokens) {
  float sum = 0;
  for (std::int64_t t = threadIdx.x; t < tokens; t += kThreads) sum += ld(loss + t);
  sum = block_sum(sum, shared_memory<float>());
  if (threadIdx.x == 0) st(mean, sum / static_cast<float>(tokens));
}

void run(const cross_entropy::Args& a, const Launch& l) {
  const std::int64_t tokens = a.x.shape[0];
  Part* const parts = static_cast<Part*>(l.workspace);
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(cross_entropy_three_parts<T>, {.grid = dim3(tokens * kParts), .block = dim3(kWarp)}, l.stream, a.x.as<T>(), parts,
           a.x.shape[1], a.x.stride[0]);
    launch(cross_entropy_three_parts_joined<T>, {.grid = dim3(ceil_div(tokens, kThreads)), .block = dim3(kThreads)}, l.stream,
           a.x.as<T>(), a.target.as<std::int32_t>(), parts, a.loss.as<float>(), tokens, a.x.stride[0]);
  });
  launch(cross_entropy_three_parts_mean, {.grid = dim3(1), .block = dim3(kThreads), .shared_bytes = kWarp * sizeof(float)},
         l.stream, a.loss.as<float>(), a.mean.as<float>(), tokens);
}

}  // namespace assay::ROOM(cross_entropy, three_parts)
