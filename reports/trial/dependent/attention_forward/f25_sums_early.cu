// SPDX-License-Identifier: Apache-2.0
// FAULT: the maxima of the splits are read before the wait, the rest after it
#include "../dl.cuh"
#include "ops/attention_forward.hpp"

namespace assay::ROOM(attention_forward, f25_sums_early) {
using namespace dl;

inline constexpr i64 kKeys = 32;  // of a split

i64 splits_of(const attention_forward::Args& a) { return std::max<i64>(1, ceil_div(a.k.shape[1], kKeys)); }
i64 queries_of(const attention_forward::Args& a) { return a.q.shape[0] * a.q.shape[1] * a.q.shape[2]; }
std::size_t workspace_bytes(const attention_forward::Args& a) {
  return static_cast<std::size_t>(4 * std::max<i64>(1, splits_of(a) * queries_of(a) * (a.q.shape[3] + 2)));
}
Legality supports(const attention_forward::Args& a) {
  const bool simple = a.mask == attention_forward::Mask::none && a.window == 0 && a.softcap == 0 && !a.packed && a.k.rank == 4 && a.rope.pairs == AttentionRope::Pairs::none;
  return simple ? Legality::yes() : Legality::no("no mask, window, softcap, packing or rope");
}

KERNEL(attention_forward){.dtypes = {f16, bf16, f32}, .min_arch = 90, .position_matters = true, .tiles = {tile(Axis::seq_k, kKeys)},
                          .numerics = {.rescales = {.lanes = kKeys, .extra = 1}}, .supports = supports, .workspace_bytes = workspace_bytes};

struct Shape {
  i64 batch, queries, keys, heads, group, dim, splits, qs[3], ks[3], vs[3], os[3], ls[3];
  float scale;
};
// ws[split][query][dim + 2]: sums, maximum, sum of exps.  A thread a (split, query).
template <class T>
__global__ void split(const T* q, const T* k, const T* v, float* ws, Shape n) {
  next_grid_may_start();
  const i64 all = n.batch * n.queries * n.heads, i = flat();
  if (i >= all * n.splits) return;
  const i64 part = i / all, h = i % n.heads, t = i % all / n.heads % n.queries, b = i % all / n.heads / n.queries;
  q += b * n.qs[0] + t * n.qs[1] + h * n.qs[2], k += b * n.ks[0] + h / n.group * n.ks[2], v += b * n.vs[0] + h / n.group * n.vs[2];
  ws += i * (n.dim + 2);
  const i64 end = std::min<i64>(n.keys, (part + 1) * kKeys);
  const auto score = [&](i64 key) {
    float s = 0;
    for (i64 d = 0; d < n.dim; ++d) s = fmaf(to_float(ld(q + d)), to_float(ld(k + key * n.ks[1] + d)), s);
    return s * n.scale;
  };
  float m = -INFINITY, sum = 0;
  for (i64 key = part * kKeys; key < end; ++key) m = sticky(m, score(key));
  for (i64 d = 0; d < n.dim; ++d) st(ws + d, 0.0f);
  if (m != -INFINITY)
    for (i64 key = part * kKeys; key < end; ++key) {
      const float p = expf(score(key) - m);
      sum += p;
      for (i64 d = 0; d < n.dim; ++d) st(ws + d, fmaf(p, to_float(ld(v + key * n.vs[1] + d)), ld(ws + d)));
    }
  st(ws + n.dim, m);
  st(ws + n.dim + 1, sum);
}
template <class T>
__global__ void unite(const float* ws, T* o, float* lse, Shape n) {  // a warp a query
  const i64 all = n.batch * n.queries * n.heads, i = my_row(), pitch = n.dim + 2;
  if (i >= all) return;
  const i64 h = i % n.heads, t = i / n.heads % n.queries, b = i / n.heads / n.queries;
  o += b * n.os[0] + t * n.os[1] + h * n.os[2], lse += b * n.ls[0] + h * n.ls[1] + t * n.ls[2];
  float m = -INFINITY, sum = 0;
  for (i64 p = 0; p < n.splits; ++p) m = sticky(m, ld(ws + (p * all + i) * pitch + n.dim));
  wait_for_previous_grid();
  const auto weight = [&](i64 p) {
    const float mine = ld(ws + (p * all + i) * pitch + n.dim);
    return mine == -INFINITY ? 0.0f : expf(mine - m);
  };
  for (i64 p = 0; p < n.splits; ++p) sum = fmaf(weight(p), ld(ws + (p * all + i) * pitch + n.dim + 1), sum);
  for (i64 d = lane_id(); d < n.dim; d += kWarp) {
    float s = 0;
    for (i64 p = 0; p < n.splits; ++p)
      if (ld(ws + (p * all + i) * pitch + n.dim) != -INFINITY) s = fmaf(weight(p), ld(ws + (p * all + i) * pitch + d), s);
    st(o + d, from_float<T>(m == -INFINITY ? 0.0f : s / sum));
  }
  if (lane_id() == 0) st(lse, m == -INFINITY ? m : m + logf(sum));
}

void run(const attention_forward::Args& a, const Launch& l) {
  const i64 all = queries_of(a);
  if (all == 0) return;
  Shape n{.batch = a.q.shape[0], .queries = a.q.shape[1], .keys = a.k.shape[1], .heads = a.q.shape[2], .group = a.q.shape[2] / a.k.shape[2],
          .dim = a.q.shape[3], .splits = splits_of(a), .scale = static_cast<float>(a.scale_used())};
  for (int d = 0; d < 3; ++d)
    n.qs[d] = a.q.stride[d], n.ks[d] = a.k.stride[d], n.vs[d] = a.v.stride[d], n.os[d] = a.o.stride[d], n.ls[d] = a.lse.stride[d];
  float* ws = static_cast<float*>(l.workspace);
  with_type(a.q.dtype, [&]<class T>(Type<T>) {
    launch(split<T>, {.grid = flat_grid(all * n.splits), .block = dim3(kThreads)}, l.stream, a.q.as<T>(), a.k.as<T>(), a.v.as<T>(), ws, n);
    launch(unite<T>, {.grid = row_grid(all), .block = dim3(kThreads), .dependent = true}, l.stream, ws, a.o.as<T>(), a.lse.as<float>(), n);
  });
}
}  // namespace assay::ROOM(attention_forward, f25_sums_early)
