// SPDX-License-Identifier: Apache-2.0
// FAULT: dK is scaled by 1 / sqrt(head_dim), also where another scale is asked for.
// Kind: combinations
// Shows: dK with an explicit scale.
#include "cuda/attention_backward/broken/plain.cuh"

namespace assay::ROOM(attention_backward, default_scale_in_d_key) {

inline constexpr int kRows = 32, kMostDim = 128;

Legality supports(const attention_backward::Args& a) {
  if (a.q.shape[3] > kMostDim) return Legality::no("head_dim exceeds 128");
  return extents_fit(a);
}

template <class T>
__global__ void __launch_bounds__(kRows) attention_backward_scaled_keys(Problem<T> p, int blocks, float own_scale) {
  const int block = static_cast<int>(blockIdx.x), kv_heads = p.heads / p.group;
  const int key = block % blocks * kRows + static_cast<int>(threadIdx.x);
  const int kv = block / blocks % kv_heads, batch = block / blocks / kv_heads;
  if (key >= p.keys) return;
  const T* const k = p.k.row(batch, kv, key);
  const T* const v = p.v.row(batch, kv, key);
  float dk[kMostDim] = {}, dv[kMostDim] = {};
  for (int head = kv * p.group; head < (kv + 1) * p.group; ++head)
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
  T* const out_k = p.dk.row(batch, kv, key);
  T* const out_v = p.dv.row(batch, kv, key);
  for (int c = 0; c < p.dim; ++c) st(out_k + c, from_float<T>(dk[c] * own_scale)), st(out_v + c, from_float<T>(dv[c]));
}

constexpr KernelTraits<attention_backward> of_small_heads() {
  KernelTraits<attention_backward> t = plain_traits<Plain>();
  t.supports = supports;
  return t;
}
KERNEL(attention_backward) = of_small_heads();

void run(const attention_backward::Args& a, const Launch& l) {
  with_type(a.q.dtype, [&]<class T>(Type<T>) {
    const Problem<T> p = problem<T>(a, l);
    run_row_dots(p, l);
    const std::int64_t query_blocks = ceil_div(p.queries, kPlainRows), key_blocks = ceil_div(p.keys, kRows);
    const std::int64_t channel_blocks = ceil_div(p.dim, kPlainChannels);
    if (p.batches > 0 && p.queries > 0)
      launch(attention_backward_plain_queries<T, Plain<T>>,
             {.grid = dim3(query_blocks * channel_blocks * p.heads * p.batches), .block = dim3(kPlainRows)}, l.stream, p,
             query_blocks, channel_blocks);
    if (p.batches > 0 && p.keys > 0)
      launch(attention_backward_scaled_keys<T>,
             {.grid = dim3(key_blocks * (p.heads / p.group) * p.batches), .block = dim3(kRows)}, l.stream, p,
             static_cast<int>(key_blocks), 1.0f / sqrtf(static_cast<float>(p.dim)));
  });
}

}  // namespace assay::ROOM(attention_backward, default_scale_in_d_key)
