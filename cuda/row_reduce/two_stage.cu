// SPDX-License-Identifier: Apache-2.0
// A row is split into up to 1024 parts, one block each, with partial results in workspace; then one block per row, in a launch
// that begins early, joins them, so that one long row fills the device.  A row of one part needs no second launch.  The order of
// additions depends on the extents alone, without atomics: deterministic.
#include "cuda/row_reduce/parts.cuh"

namespace assay::ROOM(row_reduce, two_stage) {

using namespace row_reduce_room;

inline constexpr int kThreads = 256;
inline constexpr std::int64_t kLeastPart = 4096, kMostParts = 1024;  // columns per part, parts per row

std::int64_t parts_of(std::int64_t cols) { return std::clamp<std::int64_t>(ceil_div(cols, kLeastPart), 1, kMostParts); }
std::size_t workspace_bytes(const row_reduce::Args& a) { return bytes_of_parts(a.x.shape[0], parts_of(a.x.shape[1])); }
Legality supports(const row_reduce::Args& a) { return parts_fit(a.x.shape[0], parts_of(a.x.shape[1])); }

KERNEL(row_reduce){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::cols, kLeastPart)},
    // A thread adds at most 4096 / 256 = 16 columns; in rows of over 1024 * 4096, cols / 2^18 and at most two packs of 8 more.
    // Then one of the tail, 10 joins in the block, and 1024 / 256 = 4 and 10 joins of the parts.
    .numerics = {.accumulate = f32,
                 .chain = {.lanes = kMostParts * kThreads, .extra = 50},
                 .flushes_subnormals = true,
                 .rescales = {.lanes = kMostParts * kThreads, .extra = 50}},
    .supports = supports,
    .workspace_bytes = workspace_bytes,
};

// Packs in flight of a thread.  Note: all 1024 blocks are at work at once on an H100 or H200 if a thread takes 32 registers, of
// which these folds leave too few for four packs of 8 elements.
template <class Fold, int N>
inline constexpr int kInFlight = N == 8 && (std::is_same_v<Fold, fold::LogSumExp> || std::is_same_v<Fold, fold::Max>) ? 2 : 4;

// share: packs of a part.
template <class T, class Fold, int N>
__global__ void __launch_bounds__(kThreads, 8) row_reduce_parts(const T* x, Fold* results, float* y, unsigned parts,
                                                                std::int64_t share, std::int64_t cols, std::int64_t stride) {
  next_grid_may_start();
  const unsigned row = blockIdx.x / parts, part = blockIdx.x - row * parts;
  const std::int64_t packs = cols / N, first = part * share;
  const int thread = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x);
  x += row * stride;
  Fold f;
  fold::take_packs<kInFlight<Fold, N>, N>(f, x, first + thread, first + share < packs ? first + share : packs, threads);
  if (part == parts - 1) fold::take_tail<N>(f, x, cols, thread);
  f = fold::join_block(f, shared_memory<Fold>());
  if (thread != 0) return;
  if (parts == 1) st(y + row, f.result());
  else st(results + blockIdx.x, f);
}

void run(const row_reduce::Args& a, const Launch& l) {
  const std::int64_t rows = a.x.shape[0], cols = a.x.shape[1], parts = parts_of(cols);
  if (rows == 0) return;
  with_all(a, [&]<class T, class Fold, int N>(Type<T>, Type<Fold>, std::integral_constant<int, N>) {
    Fold* const results = static_cast<Fold*>(l.workspace);
    const std::int64_t share = ceil_div(cols / N, parts);
    launch(row_reduce_parts<T, Fold, N>,
           {.grid = dim3(rows * parts), .block = threads_for(share, kThreads), .shared_bytes = kWarp * sizeof(Fold)}, l.stream,
           a.x.as<T>(), results, a.y.as<float>(), static_cast<unsigned>(parts), share, cols, a.x.stride[0]);
    if (parts > 1) launch_join<kThreads, kMostParts / kThreads>(results, a, parts, l);
  });
}

}  // namespace assay::ROOM(row_reduce, two_stage)
