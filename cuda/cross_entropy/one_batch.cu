// SPDX-License-Identifier: Apache-2.0
// A block takes a part of a token's row as one batch: all packs of a thread are in flight at once, so that a block lives for one
// latency of memory, and the last blocks of the grid end soon after the others.  A second launch, which begins early and reads
// the targets' elements meanwhile, joins the parts of each token; of few tokens its one block also computes the mean.
#include "cuda/core/row_pack.cuh"
#include "cuda/cross_entropy/row.cuh"

namespace assay::ROOM(cross_entropy, one_batch) {

using namespace cross_entropy_room;

inline constexpr int kPacks = 4, kThreads = 256;  // of a thread, of a part
inline constexpr std::int64_t kMostParts = 64;    // of a token; beyond, a part is several batches
inline constexpr int kJoinThreads = 128, kFewThreads = 1024;
inline constexpr std::int64_t kFewJoins = 16 * 1024;  // parts of all tokens that one block joins

// One thread per thing, rounded up to whole warps.
dim3 threads_for(std::int64_t things, int most) {
  return dim3(kWarp * std::clamp<std::int64_t>(ceil_div(things, kWarp), 1, most / kWarp));
}
std::int64_t parts_of(std::int64_t packs) {
  return std::clamp<std::int64_t>(ceil_div(packs, kPacks * kThreads), 1, kMostParts);
}
// Note: has the parts of single elements, which are the most.
std::size_t workspace_bytes(const cross_entropy::Args& a) {
  return static_cast<std::size_t>(a.x.shape[0] * parts_of(a.x.shape[1])) * sizeof(fold::LogSumExp);
}
Legality supports(const cross_entropy::Args& a) {
  if (a.x.shape[0] * kMostParts >= std::int64_t{1} << 31) return Legality::no("more parts than a grid has blocks");
  return Legality::yes();
}

KERNEL(cross_entropy){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::tokens, kFewThreads), tile_bytes(Axis::vocab, 16 * kPacks * kThreads)},
    // A thread adds 4 packs of at most 8; in rows of more than 64 parts of 1024 packs, vocab / 2^14 and two packs.  Then one of
    // the tail, 10 joins in the block and 64 of the parts.  The mean: tokens / 1024 or 512 a thread, and 10.
    .numerics = {.accumulate = f32,
                 .chain = {.lanes = kMeanThreads, .extra = 107},
                 .flushes_subnormals = true,
                 .rescales = {.lanes = kMostParts * kThreads, .extra = 107}},
    .supports = supports,
    .workspace_bytes = workspace_bytes,
};

// Note: six blocks of 256 threads have 96 KB in flight, which takes at most 40 registers a thread.
template <class T, int N>
__global__ void __launch_bounds__(kThreads, 6)
    cross_entropy_part(Tokens<T> m, fold::LogSumExp* results, unsigned parts, std::int64_t share) {
  next_grid_may_start();
  using Pack = row_pack::Raw<T, N>;
  const unsigned token = blockIdx.x / parts, part = blockIdx.x - token * parts;
  const int thread = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x);
  const T* const row = m.row(token);
  const std::int64_t first = part * share, rest = m.vocab / N - first;
  const T* x = row + first * N;
  fold::LogSumExp seen;
  for (int left = static_cast<int>(rest < share ? rest : share); left > 0;
       left -= kPacks * threads, x += std::int64_t{kPacks} * N * threads) {
    Pack raw[kPacks];
#pragma unroll
    for (int k = 0; k < kPacks; ++k)
      if (k * threads + thread < left) raw[k] = ld(reinterpret_cast<const Pack*>(x) + (k * threads + thread));
#pragma unroll
    for (int k = 0; k < kPacks; ++k) {
      if (k * threads + thread >= left) break;
      float v[N];
      row_pack::to_floats<T, N>(v, raw[k]);
      seen.add(v);
    }
  }
  if (part == parts - 1) fold::take_tail<N>(seen, row, m.vocab, thread);
  seen = fold::join_block(seen, shared_memory<fold::LogSumExp>());
  if (thread == 0) st(results + blockIdx.x, seen);
}

// The loss of a token from its parts.
__device__ inline float loss_of(const fold::LogSumExp* results, int parts, float at_target) {
  fold::LogSumExp seen;
#pragma unroll 8
  for (int p = 0; p < parts; ++p) seen.join(ld(results + p));
  return seen.max == INFINITY ? NAN : logf(seen.sum) + (seen.max - at_target);
}

// Of few tokens: all losses and their mean.
template <class T>
__global__ void __launch_bounds__(kFewThreads)
    cross_entropy_few(Tokens<T> m, const fold::LogSumExp* results, int parts, float* mean) {
  const int thread = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x);
  const auto at_target = [&](std::int64_t token) { return to_float(ld(m.row(token) + ld(m.target + token))); };
  float next = thread < m.tokens ? at_target(thread) : 0;
  wait_for_previous_grid();
  fold::Sum sum;
  for (std::int64_t token = thread; token < m.tokens; token += threads) {
    const float loss[1] = {loss_of(results + token * parts, parts, next)};
    st(m.loss + token, loss[0]);
    sum.add(loss);
    if (token + threads < m.tokens) next = at_target(token + threads);
  }
  sum = fold::join_block(sum, shared_memory<fold::Sum>());
  if (thread == 0) st(mean, sum.value / static_cast<float>(m.tokens));
}

template <class T>
__global__ void __launch_bounds__(kJoinThreads) cross_entropy_join(Tokens<T> m, const fold::LogSumExp* results, int parts) {
  next_grid_may_start();
  const std::int64_t token = static_cast<std::int64_t>(blockIdx.x) * kJoinThreads + threadIdx.x;
  const float at_target = token < m.tokens ? to_float(ld(m.row(token) + ld(m.target + token))) : 0;
  wait_for_previous_grid();
  if (token < m.tokens) st(m.loss + token, loss_of(results + token * parts, parts, at_target));
}

template <class T, int N>
void run_width(const cross_entropy::Args& a, const Launch& l) {
  const std::int64_t tokens = a.x.shape[0], packs = a.x.shape[1] / N, parts = parts_of(packs);
  const Tokens<T> m = tokens_of<T>(a);
  fold::LogSumExp* const results = static_cast<fold::LogSumExp*>(l.workspace);
  const std::int64_t share = ceil_div(packs, parts);
  launch(cross_entropy_part<T, N>,
         {.grid = dim3(tokens * parts),
          .block = threads_for(ceil_div(share, kPacks), kThreads),
          .shared_bytes = kWarp * sizeof(fold::LogSumExp)},
         l.stream, m, results, static_cast<unsigned>(parts), share);
  if (tokens * parts <= kFewJoins) {
    launch(cross_entropy_few<T>,
           {.grid = dim3(1),
            .block = threads_for(tokens, kFewThreads),
            .shared_bytes = kWarp * sizeof(fold::Sum),
            .dependent = true},
           l.stream, m, results, static_cast<int>(parts), a.mean.as<float>());
    return;
  }
  launch(cross_entropy_join<T>, {.grid = dim3(ceil_div(tokens, kJoinThreads)), .block = dim3(kJoinThreads), .dependent = true},
         l.stream, m, results, static_cast<int>(parts));
  launch_mean(a, l);
}

void run(const cross_entropy::Args& a, const Launch& l) {
  with_type(a.x.dtype,
            [&]<class T>(Type<T>) { a.x.rows_aligned(16) ? run_width<T, 16 / sizeof(T)>(a, l) : run_width<T, 1>(a, l); });
}

}  // namespace assay::ROOM(cross_entropy, one_batch)
