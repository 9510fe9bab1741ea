// SPDX-License-Identifier: Apache-2.0
// FAULT: The kernel of dK and dV aligns both causal masks bottom-right. It is wrong with causal_top_left where seq_q and seq_k
// differ.
// Kind: combinations
#include "cuda/attention_backward/problem.cuh"
#include "cuda/core/kernel.cuh"
#include "ops/attention_backward.hpp"

namespace assay::ROOM(attention_backward, keys_of_top_left_as_bottom_right) {

using namespace attention_backward_room;

KERNEL(attention_backward){
    .dtypes = {f16, bf16, f32},
    .numerics = {.accumulate = f32, .chain = {.lanes = 1}},
    .supports = extents_fit,
    .workspace_bytes = bytes_of_d,
};

template <class T>
__global__ void row_dots(Problem<T> p, float* d, std::int64_t rows) {
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * kWarp + threadIdx.x;
  if (row >= rows) return;
  const int query = static_cast<int>(row % p.queries), head = static_cast<int>(row / p.queries % p.heads);
  const int batch = static_cast<int>(row / p.queries / p.heads);
  st(d + row, from_float<float>(row_dot(p.d_o.row(batch, head, query), p.o.row(batch, head, query), p.dim)));
}

// One block per query and head; a lane has every 32nd channel of dQ.
template <class T>
__global__ void query_gradient(Problem<T> p, const float* d) {
  const int query = static_cast<int>(blockIdx.x) % p.queries, head = static_cast<int>(blockIdx.x) / p.queries % p.heads;
  const int batch = static_cast<int>(blockIdx.x) / p.queries / p.heads;
  const T* const q = p.q.row(batch, head, query);
  const T* const d_o = p.d_o.row(batch, head, query);
  const float lse = ld(p.lse.row(batch, head, query)), dot = to_float(ld(d + blockIdx.x));
  const int end = lse == -INFINITY ? 0 : p.visible(query);
  for (int c = lane_id(); c < p.dim; c += kWarp) {
    float sum = 0;
    for (int key = 0; key < end; ++key) {
      const T* const k = p.k.row(batch, head / p.group, key);
      const float weight = expf(row_dot(q, k, p.dim) * p.scale - lse);
      sum = fmaf(weight * (row_dot(d_o, p.v.row(batch, head / p.group, key), p.dim) - dot), to_float(ld(k + c)), sum);
    }
    st(p.dq.row(batch, head, query) + c, from_float<T>(sum * p.scale));
  }
}

// One block per key and key head.
template <class T>
__global__ void key_gradients(Problem<T> p, const float* d) {
  const int kv_heads = p.heads / p.group, key = static_cast<int>(blockIdx.x) % p.keys;
  const int kv = static_cast<int>(blockIdx.x) / p.keys % kv_heads, batch = static_cast<int>(blockIdx.x) / p.keys / kv_heads;
  const T* const k = p.k.row(batch, kv, key);
  const T* const v = p.v.row(batch, kv, key);
  for (int c = lane_id(); c < p.dim; c += kWarp) {
    float dk = 0, dv = 0;
    for (int head = kv * p.group; head < (kv + 1) * p.group; ++head)
      for (int query = p.seen_from(key); query < p.queries; ++query) {
        const float lse = ld(p.lse.row(batch, head, query));
        if (lse == -INFINITY) continue;
        const T* const q = p.q.row(batch, head, query);
        const T* const d_o = p.d_o.row(batch, head, query);
        const float weight = expf(row_dot(q, k, p.dim) * p.scale - lse);
        const float dot = to_float(ld(d + (static_cast<std::int64_t>(batch) * p.heads + head) * p.queries + query));
        dk = fmaf(weight * (row_dot(d_o, v, p.dim) - dot), to_float(ld(q + c)), dk);
        dv = fmaf(weight, to_float(ld(d_o + c)), dv);
      }
    st(p.dk.row(batch, kv, key) + c, from_float<T>(dk * p.scale));
    st(p.dv.row(batch, kv, key) + c, from_float<T>(dv));
  }
}

void run(const attention_backward::Args& a, const Launch& l) {
  with_type(a.q.dtype, [&]<class T>(Type<T>) {
    Problem<T> p = problem<T>(a, l);
    auto* const d = static_cast<float*>(l.workspace);
    const std::int64_t rows = static_cast<std::int64_t>(p.batches) * p.heads * p.queries;
    const std::int64_t keys = static_cast<std::int64_t>(p.batches) * (p.heads / p.group) * p.keys;
    if (rows > 0) {
      launch(row_dots<T>, {.grid = dim3(ceil_div(rows, kWarp)), .block = dim3(kWarp)}, l.stream, p, d, rows);
      launch(query_gradient<T>, {.grid = dim3(rows), .block = dim3(kWarp)}, l.stream, p, d);
    }
    if (a.mask != attention_backward::Mask::none) p.above = p.keys - p.queries;
    if (keys > 0) launch(key_gradients<T>, {.grid = dim3(keys), .block = dim3(kWarp)}, l.stream, p, d);
  });
}

}  // namespace assay::ROOM(attention_backward, keys_of_top_left_as_bottom_right)
