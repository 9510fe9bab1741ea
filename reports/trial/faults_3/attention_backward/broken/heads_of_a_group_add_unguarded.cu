// SPDX-License-Identifier: Apache-2.0
// FAULT: blocks of the query heads that share a key add to its dK and dV in workspace by a load and a store, not atomically.
// Kind: concurrency
// Shows: more than one query head for each key/value head, when blocks run at the same time.
#include "cuda/attention_backward/broken/plain.cuh"

namespace assay::ROOM(attention_backward, heads_of_a_group_add_unguarded) {

inline constexpr int kRows = 32, kMostDim = 128;

Legality supports(const attention_backward::Args& a) {
  if (a.q.shape[3] > kMostDim) return Legality::no("head_dim exceeds 128");
  return extents_fit(a);
}
std::int64_t sums(const attention_backward::Args& a) { return a.k.shape[0] * a.k.shape[1] * a.k.shape[2] * a.k.shape[3]; }
std::size_t workspace_bytes(const attention_backward::Args& a) {
  return bytes_of_d(a) + static_cast<std::size_t>(2 * sums(a)) * sizeof(float);
}

// Sums are [batch, kv_heads, keys, dim], those of dK first.
__global__ inline void attention_backward_clear(float* sums, std::int64_t count) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * 128 + threadIdx.x;
  if (i < count) st(sums + i, 0.0f);
}
template <class T>
__global__ void __launch_bounds__(kRows) attention_backward_add_head(Problem<T> p, int blocks, float* dk_sums, float* dv_sums) {
  const int block = static_cast<int>(blockIdx.x), kv_heads = p.heads / p.group;
  const int key = block % blocks * kRows + static_cast<int>(threadIdx.x);
  const int head = block / blocks % p.heads, batch = block / blocks / p.heads, kv = head / p.group;
  if (key >= p.keys) return;
  const T* const k = p.k.row(batch, kv, key);
  const T* const v = p.v.row(batch, kv, key);
  float dk[kMostDim] = {}, dv[kMostDim] = {};
  for (int query = p.seen_from(key); query < p.queries; ++query) {
    const float lse = ld(p.lse.row(batch, head, query));
    if (lse == -INFINITY) continue;
    const T* const q = p.q.row(batch, head, query);
    const T* const d_o = p.d_o.row(batch, head, query);
    const float weight = expf(row_dot(q, k, p.dim) * p.scale - lse);
    const float ds = weight * (row_dot(d_o, v, p.dim) - ld(p.d_of(batch, head) + query));
    for (int c = 0; c < p.dim; ++c) {
      dk[c] = fmaf(ds, to_float(ld(q + c)), dk[c]);
      dv[c] = fmaf(weight, to_float(ld(d_o + c)), dv[c]);
    }
  }
  const std::int64_t at = ((static_cast<std::int64_t>(batch) * kv_heads + kv) * p.keys + key) * p.dim;
  for (int c = 0; c < p.dim; ++c) {
    st(dk_sums + at + c, ld(dk_sums + at + c) + dk[c]);
    st(dv_sums + at + c, ld(dv_sums + at + c) + dv[c]);
  }
}
template <class T>
__global__ void attention_backward_round(Problem<T> p, const float* dk_sums, const float* dv_sums, std::int64_t count) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * 128 + threadIdx.x;
  if (i >= count) return;
  const int c = static_cast<int>(i % p.dim), key = static_cast<int>(i / p.dim % p.keys), kv_heads = p.heads / p.group;
  const int kv = static_cast<int>(i / p.dim / p.keys % kv_heads), batch = static_cast<int>(i / p.dim / p.keys / kv_heads);
  st(p.dk.row(batch, kv, key) + c, from_float<T>(ld(dk_sums + i) * p.scale));
  st(p.dv.row(batch, kv, key) + c, from_float<T>(ld(dv_sums + i)));
}

KERNEL(attention_backward){
    .dtypes = kEveryType,
    .tiles = {tile(Axis::seq_q, kPlainRows), tile(Axis::seq_k, kRows), tile(Axis::head_dim, kPlainChannels)},
    .numerics = {.accumulate = f32, .chain = {.lanes = 1}},
    .supports = supports,
    .workspace_bytes = workspace_bytes};

void run(const attention_backward::Args& a, const Launch& l) {
  with_type(a.q.dtype, [&]<class T>(Type<T>) {
    const Problem<T> p = problem<T>(a, l);
    run_row_dots(p, l);
    const std::int64_t query_blocks = ceil_div(p.queries, kPlainRows), key_blocks = ceil_div(p.keys, kRows);
    const std::int64_t channel_blocks = ceil_div(p.dim, kPlainChannels), count = sums(a);
    if (p.batches > 0 && p.queries > 0)
      launch(attention_backward_plain_queries<T, Plain<T>>,
             {.grid = dim3(query_blocks * channel_blocks * p.heads * p.batches), .block = dim3(kPlainRows)}, l.stream, p,
             query_blocks, channel_blocks);
    if (count == 0) return;
    float* const dk = reinterpret_cast<float*>(static_cast<char*>(l.workspace) + bytes_of_d(a));
    launch(attention_backward_clear, {.grid = dim3(ceil_div(2 * count, 128)), .block = dim3(128)}, l.stream, dk, 2 * count);
    launch(attention_backward_add_head<T>, {.grid = dim3(key_blocks * p.heads * p.batches), .block = dim3(kRows)}, l.stream, p,
           static_cast<int>(key_blocks), dk, dk + count);
    launch(attention_backward_round<T>, {.grid = dim3(ceil_div(count, 128)), .block = dim3(128)}, l.stream, p,
           static_cast<const float*>(dk), static_cast<const float*>(dk + count), count);
  });
}

}  // namespace assay::ROOM(attention_backward, heads_of_a_group_add_unguarded)
