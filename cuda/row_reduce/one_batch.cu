// SPDX-License-Identifier: Apache-2.0
// A block takes a row, or a part of a long one, as one batch: all packs of a thread are in flight at once, so that a block lives
// for one latency of memory, and the last blocks of the grid end soon after the others.  A long row has up to 8192 parts; one
// block, in a second launch that begins early, joins them.  The order of additions depends on the columns alone: deterministic.
#include "cuda/core/row_pack.cuh"
#include "cuda/row_reduce/parts.cuh"

namespace assay::ROOM(row_reduce, one_batch) {

using namespace row_reduce_room;

inline constexpr int kPacks = 4;           // of a thread
inline constexpr int kRowThreads = 512;    // at most, of a row that is one part
inline constexpr int kPartThreads = 256;   // of a part
inline constexpr int kJoinThreads = 1024;  // at most
inline constexpr std::int64_t kMostParts = 8192;

std::int64_t parts_of(std::int64_t packs) {
  if (packs <= kPacks * kRowThreads) return 1;
  return std::min(ceil_div(packs, kPacks * kPartThreads), kMostParts);
}
// Note: has the parts of single elements, which are the most.
std::size_t workspace_bytes(const row_reduce::Args& a) { return bytes_of_parts(a.x.shape[0], parts_of(a.x.shape[1])); }
Legality supports(const row_reduce::Args& a) { return parts_fit(a.x.shape[0], parts_of(a.x.shape[1])); }

KERNEL(row_reduce){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile_bytes(Axis::cols, 16 * kPacks * kPartThreads)},
    // A thread adds 4 packs of at most 8; in rows of more than 8192 parts of 1024 packs, cols / 2^21 and two packs.  Then one of
    // the tail, 10 joins in the block, and 8192 / 1024 = 8 and 10 joins of the parts.
    .numerics = {.accumulate = f32,
                 .chain = {.lanes = kMostParts * kPartThreads, .extra = 61},
                 .flushes_subnormals = true,
                 .rescales = {.lanes = kMostParts * kPartThreads, .extra = 61}},
    .supports = supports,
    .workspace_bytes = workspace_bytes,
};

template <class T>
struct Rows {
  const T* x;                        // [rows, cols], rows `stride` elements apart
  std::int64_t cols, stride, share;  // share: packs of a part
  unsigned parts;                    // of a row
};

// Adds the packs thread, thread + threads, ... below `left`, kPacks of them in flight.
template <int N, class T, class Fold>
__device__ inline void add_packs(Fold& f, const T* x, int left, int thread, int threads) {
  using Pack = row_pack::Raw<T, N>;
  for (; left > 0; left -= kPacks * threads, x += static_cast<std::int64_t>(kPacks) * N * threads) {
    Pack raw[kPacks];
#pragma unroll
    for (int k = 0; k < kPacks; ++k)
      if (k * threads + thread < left) raw[k] = ld(reinterpret_cast<const Pack*>(x) + (k * threads + thread));
#pragma unroll
    for (int k = 0; k < kPacks; ++k) {
      if (k * threads + thread >= left) break;
      float v[N];
      row_pack::to_floats<T, N>(v, raw[k]);
      f.add(v);
    }
  }
}

// The fold of the block's row or part; only thread 0 gets it.  Note: six blocks of 256 threads have 96 KB in flight, which takes
// at most 40 registers a thread.
template <int N, class T, class Fold>
__device__ inline Fold fold_of(const Rows<T>& m, unsigned row, unsigned part) {
  const int thread = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x);
  const T* const x = m.x + row * m.stride;
  const std::int64_t first = part * m.share, left = m.cols / N - first;
  Fold f;
  add_packs<N>(f, x + first * N, static_cast<int>(left < m.share ? left : m.share), thread, threads);
  if (part == m.parts - 1) fold::take_tail<N>(f, x, m.cols, thread);
  return fold::join_block(f, shared_memory<Fold>());
}

template <class T, class Fold, int N>
__global__ void __launch_bounds__(kRowThreads, 3) row_reduce_whole(Rows<T> m, float* y) {
  const Fold f = fold_of<N, T, Fold>(m, blockIdx.x, 0);
  if (threadIdx.x == 0) st(y + blockIdx.x, f.result());
}

template <class T, class Fold, int N>
__global__ void __launch_bounds__(kPartThreads, 6) row_reduce_part(Rows<T> m, Fold* results) {
  next_grid_may_start();
  const unsigned row = blockIdx.x / m.parts;
  const Fold f = fold_of<N, T, Fold>(m, row, blockIdx.x - row * m.parts);
  if (threadIdx.x == 0) st(results + blockIdx.x, f);
}

void run(const row_reduce::Args& a, const Launch& l) {
  const std::int64_t rows = a.x.shape[0], cols = a.x.shape[1];
  if (rows == 0) return;
  with_all(a, [&]<class T, class Fold, int N>(Type<T>, Type<Fold>, std::integral_constant<int, N>) {
    const std::int64_t packs = cols / N, parts = parts_of(packs);
    const Rows<T> m{a.x.as<T>(), cols, a.x.stride[0], ceil_div(packs, parts), static_cast<unsigned>(parts)};
    constexpr std::size_t kShared = kWarp * sizeof(Fold);
    if (parts == 1) {
      launch(row_reduce_whole<T, Fold, N>,
             {.grid = dim3(rows), .block = threads_for(ceil_div(packs, kPacks), kRowThreads), .shared_bytes = kShared}, l.stream,
             m, a.y.as<float>());
      return;
    }
    Fold* const results = static_cast<Fold*>(l.workspace);
    launch(row_reduce_part<T, Fold, N>, {.grid = dim3(rows * parts), .block = dim3(kPartThreads), .shared_bytes = kShared},
           l.stream, m, results);
    launch_join<kJoinThreads, kMostParts / kJoinThreads>(results, a, parts, l);
  });
}

}  // namespace assay::ROOM(row_reduce, one_batch)
