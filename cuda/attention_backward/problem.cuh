// SPDX-License-Identifier: Apache-2.0
// Kernel arguments of attention's gradients: the tensors, and which pairs are visible.
#pragma once

#include "cuda/core/kernel.cuh"
#include "cuda/core/reduce.cuh"
#include "ops/attention_backward.hpp"

namespace assay::ASSAY_FLAVOUR::attention_backward_room {

// A [batch, seq, heads, head_dim] tensor; strides in elements, channels contiguous.
template <class T>
struct Heads {
  T* data;
  std::int64_t batch, seq, head;
  __device__ T* of(int b, int h) const { return data + b * batch + h * head; }
  __device__ T* row(int b, int h, int position) const { return of(b, h) + position * seq; }
};

template <class T>
struct Problem {
  Heads<const T> q, k, v, o, d_o;
  Heads<T> dq, dk, dv;
  Heads<const float> lse;                         // [batch, heads, seq_q]
  float* d;                                       // workspace [batch, heads, seq_q]: rowsum(dO * O)
  int batches, queries, keys, heads, group, dim;  // group: query heads that share a key/value head
  int above;                                      // query i sees keys 0 ... i + above; no mask: all keys
  float scale;                                    // applied to the scores

  // Query i sees keys [0, visible(i)); key j is seen by queries [seen_from(j), queries).
  __device__ int visible(int i) const {
    const int end = i + 1 + above;
    return end < 0 ? 0 : end < keys ? end : keys;
  }
  __device__ int seen_from(int j) const {
    const int first = j - above;
    return first < 0 ? 0 : first < queries ? first : queries;
  }
  __device__ float* d_of(int batch, int head) const { return d + (static_cast<std::int64_t>(batch) * heads + head) * queries; }
};

inline constexpr std::int64_t kMostExtent = std::int64_t{1} << 29;  // per sequence, since positions and their sums are ints

inline Legality extents_fit(const attention_backward::Args& a) {
  for (const std::int64_t extent : {a.q.shape[0], a.q.shape[1], a.q.shape[2], a.q.shape[3], a.k.shape[1]})
    if (extent > kMostExtent) return Legality::no("an extent exceeds 2^29");
  return Legality::yes();
}

// D is first in the workspace of every kernel.
inline std::size_t bytes_of_d(const attention_backward::Args& a) {
  return static_cast<std::size_t>(ceil_div(a.q.shape[0] * a.q.shape[1] * a.q.shape[2], 64)) * 64 * sizeof(float);
}

template <class T>
Heads<T> heads_of(const Tensor& t) {
  return {t.as<std::remove_const_t<T>>(), t.stride[0], t.stride[1], t.stride[2]};
}

template <class T>
Problem<T> problem(const attention_backward::Args& a, const Launch& l) {
  using Mask = attention_backward::Mask;
  Problem<T> p{};
  p.q = heads_of<const T>(a.q);
  p.k = heads_of<const T>(a.k);
  p.v = heads_of<const T>(a.v);
  p.o = heads_of<const T>(a.o);
  p.d_o = heads_of<const T>(a.d_o);
  p.dq = heads_of<T>(a.dq);
  p.dk = heads_of<T>(a.dk);
  p.dv = heads_of<T>(a.dv);
  p.lse = {a.lse.as<float>(), a.lse.stride[0], a.lse.stride[2], a.lse.stride[1]};
  p.d = static_cast<float*>(l.workspace);
  p.batches = static_cast<int>(a.q.shape[0]);
  p.queries = static_cast<int>(a.q.shape[1]);
  p.keys = static_cast<int>(a.k.shape[1]);
  p.heads = static_cast<int>(a.q.shape[2]);
  p.group = static_cast<int>(a.q.shape[2] / a.k.shape[2]);
  p.dim = static_cast<int>(a.q.shape[3]);
  p.above = a.mask == Mask::none ? p.keys : a.mask == Mask::causal ? p.keys - p.queries : 0;
  p.scale = static_cast<float>(a.scale_used());
  return p;
}

template <class T>
__device__ float row_dot(const T* x, const T* y, int dim) {
  float sum = 0;
  for (int c = 0; c < dim; ++c) sum = fmaf(to_float(ld(x + c)), to_float(ld(y + c)), sum);
  return sum;
}

inline constexpr int kRowThreads = 128;

// D = rowsum(dO * O), one warp per row.
template <class T>
__global__ void __launch_bounds__(kRowThreads) attention_backward_row_dots(Problem<T> p, int rows) {
  const int row = static_cast<int>(blockIdx.x) * (kRowThreads / kWarp) + warp_id(), lane = lane_id();
  if (row >= rows) return;
  const int query = row % p.queries, head = row / p.queries % p.heads, batch = row / p.queries / p.heads;
  const T* const o = p.o.row(batch, head, query);
  const T* const d_o = p.d_o.row(batch, head, query);
  float sum = 0;
  for (int c = lane; c < p.dim; c += kWarp) sum = fmaf(to_float(ld(d_o + c)), to_float(ld(o + c)), sum);
  sum = warp_sum(sum);
  if (lane == 0) st(p.d_of(batch, head) + query, sum);
}

template <class T>
void run_row_dots(const Problem<T>& p, const Launch& l) {
  const std::int64_t rows = static_cast<std::int64_t>(p.batches) * p.heads * p.queries;
  if (rows == 0) return;
  launch(attention_backward_row_dots<T>, {.grid = dim3(ceil_div(rows, kRowThreads / kWarp)), .block = dim3(kRowThreads)},
         l.stream, p, static_cast<int>(rows));
}

}  // namespace assay::ASSAY_FLAVOUR::attention_backward_room
