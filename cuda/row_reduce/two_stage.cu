// SPDX-License-Identifier: Apache-2.0
// A row is split into up to 1024 parts, one block each, with partial results in workspace; then one block per row joins them, so
// that one long row fills the device.  The order of additions depends on the extents alone, without atomics: deterministic.
#include "cuda/row_reduce/row.cuh"

namespace assay::ROOM(row_reduce, two_stage) {

using namespace row_reduce_room;

inline constexpr int kThreads = 256;
inline constexpr std::int64_t kLeastPart = 4096, kMostParts = 1024;  // columns per part, parts per row
inline constexpr std::size_t kFoldBytes = 8;                         // size of the largest fold

// One thread per thing, rounded up to whole warps.
dim3 threads_for(std::int64_t things) {
  return dim3(kWarp * std::clamp<std::int64_t>(ceil_div(things, kWarp), 1, kThreads / kWarp));
}
std::int64_t parts_of(std::int64_t cols) { return std::clamp<std::int64_t>(ceil_div(cols, kLeastPart), 1, kMostParts); }
std::size_t workspace_bytes(const row_reduce::Args& a) {
  return static_cast<std::size_t>(a.x.shape[0] * parts_of(a.x.shape[1])) * kFoldBytes;
}
Legality supports(const row_reduce::Args& a) {
  if (a.x.shape[0] * parts_of(a.x.shape[1]) >= std::int64_t{1} << 31) return Legality::no("more parts than a grid has blocks");
  return Legality::yes();
}

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

template <class T, class Fold, int N>
__global__ void __launch_bounds__(kThreads)
    row_reduce_parts(const T* x, Fold* results, std::int64_t parts, std::int64_t cols, std::int64_t stride) {
  const std::int64_t row = blockIdx.x / parts, part = blockIdx.x % parts;
  const std::int64_t packs = cols / N, share = ceil_div(packs, parts), first = part * share;
  const int thread = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x);
  x += row * stride;
  Fold f;
  fold::take_packs<4, N>(f, x, first + thread, first + share < packs ? first + share : packs, threads);
  if (part == parts - 1) fold::take_tail<N>(f, x, cols, thread);
  f = fold::join_block(f, shared_memory<Fold>());
  if (thread == 0) st(results + blockIdx.x, f);
}

template <class Fold>
__global__ void __launch_bounds__(kThreads) row_reduce_join(const Fold* results, float* y, std::int64_t parts) {
  const std::int64_t row = blockIdx.x;
  Fold f;
  for (std::int64_t p = threadIdx.x; p < parts; p += blockDim.x) f.join(ld(results + row * parts + p));
  f = fold::join_block(f, shared_memory<Fold>());
  if (threadIdx.x == 0) st(y + row, f.result());
}

void run(const row_reduce::Args& a, const Launch& l) {
  const std::int64_t rows = a.x.shape[0], cols = a.x.shape[1], parts = parts_of(cols);
  if (rows == 0) return;
  with_all(a, [&]<class T, class Fold, int N>(Type<T>, Type<Fold>, std::integral_constant<int, N>) {
    static_assert(sizeof(Fold) <= kFoldBytes);
    Fold* const results = static_cast<Fold*>(l.workspace);
    launch(row_reduce_parts<T, Fold, N>,
           {.grid = dim3(rows * parts), .block = threads_for(ceil_div(cols / N, parts)), .shared_bytes = kWarp * sizeof(Fold)},
           l.stream, a.x.as<T>(), results, parts, cols, a.x.stride[0]);
    launch(row_reduce_join<Fold>, {.grid = dim3(rows), .block = threads_for(parts), .shared_bytes = kWarp * sizeof(Fold)},
           l.stream, results, a.y.as<float>(), parts);
  });
}

}  // namespace assay::ROOM(row_reduce, two_stage)
