// SPDX-License-Identifier: Apache-2.0
// FAULT: the positions of a query are split in two at 128; a split without positions ends without writing its part of the
// workspace, which the second kernel reads.
// Kind: concurrency
// Shows: a query that sees at most 128 positions.
#include "cuda/paged_attention/problem.cuh"

namespace assay::ROOM(paged_attention, empty_split_not_written) {

inline constexpr int kSplit = 128;

// Maximum and sum of both splits, [row, split, 2], then their outputs, [row, split, head_dim]; a row is a query of a head.
std::int64_t rows_of(const paged_attention::Args& a) { return a.q.shape[0] * a.q.shape[1] * a.q.shape[2]; }
std::size_t bytes_of_parts(const paged_attention::Args& a) {
  return static_cast<std::size_t>(rows_of(a) * 2 * (2 + a.q.shape[3])) * sizeof(float);
}

// A warp a split of a row, a lane every 32nd channel.
template <class T>
__global__ void attend_split(Problem<T> p, float* sums, float* parts) {
  const std::int64_t row = blockIdx.x / 2, split = blockIdx.x % 2;
  const int head = static_cast<int>(row % p.heads), query = static_cast<int>(row / p.heads % p.queries);
  const std::int64_t batch = row / p.heads / p.queries;
  const int visible = p.visible(ld(p.lengths + batch), query);
  const int begin = split == 0 ? 0 : kSplit, end = split == 0 && visible > kSplit ? kSplit : visible;
  if (begin >= end && split == 1) return;
  const T* const q = p.q.of(batch, query, head);
  const auto dot = [&](int key) {
    const T* const k = p.k.of(ld(p.table_of(static_cast<int>(batch)) + p.entry(key)), key % p.page_size, head / p.group);
    float s = 0;
    for (int c = 0; c < p.dim; ++c) s = fmaf(to_float(ld(q + c)), to_float(ld(k + c)), s);
    return s * p.scale;
  };
  float max = -INFINITY, sum = 0;
  for (int key = begin; key < end; ++key) max = fmaxf(max, dot(key));
  const float base = max == -INFINITY ? 0.0f : max;
  for (int key = begin; key < end; ++key) sum += expf(dot(key) - base);
  for (int c = lane_id(); c < p.dim; c += kWarp) {
    float o = 0;
    for (int key = begin; key < end; ++key) {
      const std::int64_t page = ld(p.table_of(static_cast<int>(batch)) + p.entry(key));
      o = fmaf(expf(dot(key) - base), to_float(ld(p.v.of(page, key % p.page_size, head / p.group) + c)), o);
    }
    st(parts + (row * 2 + split) * p.dim + c, o);
  }
  if (lane_id() == 0) st(sums + (row * 2 + split) * 2, max), st(sums + (row * 2 + split) * 2 + 1, sum);
}

template <class T>
__global__ void join_splits(Problem<T> p, const float* sums, const float* parts) {
  const std::int64_t row = blockIdx.x, batch = row / p.heads / p.queries;
  const int head = static_cast<int>(row % p.heads), query = static_cast<int>(row / p.heads % p.queries);
  const float first = ld(sums + row * 4), second = ld(sums + row * 4 + 2);
  const float max = fmaxf(first, second), base = max == -INFINITY ? 0.0f : max;
  const float of_first = expf(first - base), of_second = expf(second - base);
  const float sum = ld(sums + row * 4 + 1) * of_first + ld(sums + row * 4 + 3) * of_second;
  T* const o = p.o.of(batch, query, head);
  for (int c = lane_id(); c < p.dim; c += kWarp) {
    const float v = ld(parts + row * 2 * p.dim + c) * of_first + ld(parts + (row * 2 + 1) * p.dim + c) * of_second;
    st(o + c, from_float<T>(sum == 0 ? 0.0f : v / sum));
  }
  if (lane_id() == 0) st(p.lse.of(batch, query, head), sum == 0 ? -INFINITY : max + logf(sum));
}

KERNEL(paged_attention){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::head_dim, kWarp), tile(Axis::heads, 1)},
    .numerics = {.accumulate = f32, .chain = {.lanes = 1, .extra = 1}, .rescales = {.lanes = 1}},
    .supports = extents_fit,
    .workspace_bytes = bytes_of_parts,
};

void run(const paged_attention::Args& a, const Launch& l) {
  if (nothing_to_do(a)) return;
  with_type(a.q.dtype, [&]<class T>(Type<T>) {
    const Problem<T> p = problem<T>(a);
    const std::int64_t rows = rows_of(a);
    float* const sums = static_cast<float*>(l.workspace);
    float* const parts = sums + rows * 4;
    launch(attend_split<T>, {.grid = dim3(rows * 2), .block = dim3(kWarp)}, l.stream, p, sums, parts);
    launch(join_splits<T>, {.grid = dim3(rows), .block = dim3(kWarp)}, l.stream, p, sums, parts);
  });
}

}  // namespace assay::ROOM(paged_attention, empty_split_not_written)
