// SPDX-License-Identifier: Apache-2.0
// An element of dQ a thread, then one of dK and dV: the weights and dO V^T of every pair are taken anew for each channel, the
// weights in
// base two by one FMA, exp2(q k scale log2(e) - L log2(e)).
#include "cuda/attention_backward/problem.cuh"

namespace assay::ROOM(attention_backward, element_a_thread) {

using namespace attention_backward_room;

inline constexpr int kThreads = 64;

KERNEL(attention_backward){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::head_dim, kThreads)},
    .numerics = {.accumulate = f32, .chain = {.lanes = 1}},
    .supports = extents_fit,
    .workspace_bytes = bytes_of_d,
};

__device__ inline float weight_of(float dot, float scale, float lse) {
  return exp2f(fmaf(dot, scale, -(lse * 1.4426950408889634f)));
}

// scale_two: scale log2(e).
template <class T>
__global__ void attention_backward_element_of_dq(Problem<T> p, float scale_two, std::int64_t all) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= all) return;
  const int c = static_cast<int>(i % p.dim), head = static_cast<int>(i / p.dim % p.heads);
  const int query = static_cast<int>(i / p.dim / p.heads % p.queries);
  const int batch = static_cast<int>(i / p.dim / p.heads / p.queries), kv = head / p.group;
  const float lse = ld(p.lse.row(batch, head, query)), d = ld(p.d_of(batch, head) + query);
  float sum = 0;
  for (int key = 0; lse != -INFINITY && key < p.visible(query); ++key) {
    const T* const k = p.k.row(batch, kv, key);
    const float weight = weight_of(row_dot(p.q.row(batch, head, query), k, p.dim), scale_two, lse);
    const float g = row_dot(p.d_o.row(batch, head, query), p.v.row(batch, kv, key), p.dim);
    sum = fmaf(weight * (g - d), to_float(ld(k + c)), sum);
  }
  st(p.dq.row(batch, head, query) + c, from_float<T>(sum * p.scale));
}

template <class T>
__global__ void attention_backward_element_of_dk_dv(Problem<T> p, float scale_two, std::int64_t all) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= all) return;
  const int kv_heads = p.heads / p.group, c = static_cast<int>(i % p.dim), kv = static_cast<int>(i / p.dim % kv_heads);
  const int key = static_cast<int>(i / p.dim / kv_heads % p.keys), batch = static_cast<int>(i / p.dim / kv_heads / p.keys);
  float of_k = 0, of_v = 0;
  for (int query = p.seen_from(key); query < p.queries; ++query)
    for (int head = kv * p.group; head < (kv + 1) * p.group; ++head) {
      const float lse = ld(p.lse.row(batch, head, query)), d = ld(p.d_of(batch, head) + query);
      if (lse == -INFINITY) continue;
      const T* const q = p.q.row(batch, head, query);
      const T* const d_o = p.d_o.row(batch, head, query);
      const float weight = weight_of(row_dot(q, p.k.row(batch, kv, key), p.dim), scale_two, lse);
      const float g = row_dot(d_o, p.v.row(batch, kv, key), p.dim);
      of_k = fmaf(weight * (g - d), to_float(ld(q + c)), of_k);
      of_v = fmaf(weight, to_float(ld(d_o + c)), of_v);
    }
  st(p.dk.row(batch, kv, key) + c, from_float<T>(of_k * p.scale));
  st(p.dv.row(batch, kv, key) + c, from_float<T>(of_v));
}

void run(const attention_backward::Args& a, const Launch& l) {
  with_type(a.q.dtype, [&]<class T>(Type<T>) {
    const Problem<T> p = problem<T>(a, l);
    const auto scale_two = static_cast<float>(a.scale_used() * 1.4426950408889634);
    run_row_dots(p, l);
    if (const std::int64_t all = a.dq.size(); all > 0)
      launch(attention_backward_element_of_dq<T>, {.grid = dim3(ceil_div(all, kThreads)), .block = dim3(kThreads)}, l.stream, p,
             scale_two, all);
    if (const std::int64_t all = a.dk.size(); all > 0)
      launch(attention_backward_element_of_dk_dv<T>, {.grid = dim3(ceil_div(all, kThreads)), .block = dim3(kThreads)}, l.stream,
             p, scale_two, all);
  });
}

}  // namespace assay::ROOM(attention_backward, element_a_thread)
