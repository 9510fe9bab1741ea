// SPDX-License-Identifier: Apache-2.0
// Two kernels: cosines and sines of every token, computed in f64 and stored as f32 in workspace; then one thread per pack of
// pairs over all tokens and heads, which reads them.  A model that keeps its table between layers runs only the second.
#include "cuda/rope/packs.cuh"

namespace assay::ROOM(rope, table) {

inline constexpr int kThreads = 128, kBatch = 4;

std::size_t workspace_bytes(const rope::Args& a) {
  return static_cast<std::size_t>(a.q.shape[0] * a.q.shape[1] * (a.rotary() / 2)) * sizeof(Rotation);
}

// Cosine and sine are rounded once.
KERNEL(rope){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile_bytes(Axis::head_dim, 32)},  // per thread
    .numerics = {.accumulate = f32, .function_error = 1 + 0x1p-20, .angle_error = kAngleError},
    .workspace_bytes = workspace_bytes,
};

template <class T>
__global__ void __launch_bounds__(kThreads) rope_table_make(Problem<T> p, Rotation* table) {
  const std::int64_t at = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x, token = at / p.half;
  if (token >= p.tokens) return;
  const double angle = p.angle(static_cast<int>(at - token * p.half), p.position(token));
  st(table + at, Rotation{static_cast<float>(cos(angle)), static_cast<float>(sin(angle))});
}

template <class T, int N>
__global__ void __launch_bounds__(kThreads) rope_table_apply(Problem<T> p, const Rotation* table) {
  // Items of a row: packs of rotated pairs, then packs of copied channels.
  const int packs = p.half / N, rest = (p.dim - p.rotary) / N, items = packs + rest;
  const std::int64_t all = p.tokens * p.heads() * items;
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * kBatch * kThreads + threadIdx.x;
#pragma unroll
  for (int b = 0; b < kBatch; ++b) {
    const std::int64_t item = first + b * kThreads, row_number = item / items;
    if (item >= all) return;
    const int at = static_cast<int>(item - row_number * items);
    const std::int64_t token = row_number / p.heads();
    const auto row = p.row(token, static_cast<int>(row_number - token * p.heads()));
    if (at < packs) {
      PairPacks<T, N> v;
      v.load(p, row.x, at);
      const Rotation* const mine = table + token * p.half + at * N;
      v.rotate_and_store(p, row.y, at, [&](int j) { return ld(mine + j); });
    } else {
      const int d = p.rotary + (at - packs) * N;
      st(reinterpret_cast<Vec<T, N>*>(row.y + d), ld(reinterpret_cast<const Vec<T, N>*>(row.x + d)));
    }
  }
}

void run(const rope::Args& a, const Launch& l) {
  if (a.q.size() == 0) return;
  Rotation* const table = static_cast<Rotation*>(l.workspace);
  with_type(a.q.dtype, [&]<class T>(Type<T>) {
    const Problem<T> p = problem_of<T>(a);
    if (p.half)
      launch(rope_table_make<T>, {.grid = dim3(ceil_div(p.tokens * p.half, kThreads)), .block = dim3(kThreads)}, l.stream, p,
             table);
    with_pack_width<T>(a, [&]<int N>(std::integral_constant<int, N>) {
      const std::int64_t items = p.tokens * (p.q.heads + p.k.heads) * (p.half / N + (p.dim - p.rotary) / N);
      launch(rope_table_apply<T, N>, {.grid = dim3(ceil_div(items, kBatch * kThreads)), .block = dim3(kThreads)}, l.stream, p,
             table);
    });
  });
}

}  // namespace assay::ROOM(rope, table)
