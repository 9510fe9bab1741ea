// SPDX-License-Identifier: Apache-2.0
// FAULT: the query heads of a group are packed as rows query by query, and the mask reads a row's query as if they were head by
// head.
// Kind: combinations
// Shows: a mask with several queries and several query heads for each key/value head.
#include "cuda/attention_forward/broken/plain.cuh"

namespace assay::ROOM(attention_forward, packed_group_masked_by_other_order) {

inline constexpr int kMostDim = 128;

Legality supports(const attention_forward::Args& a) {
  if (a.q.shape[3] > kMostDim) return Legality::no("head_dim exceeds 128");
  const Legality fits = extents_fit(a);
  return fits ? only_masks(a) : fits;
}

// A row is a query and one of the heads that share a key/value head.
template <class T>
__global__ void __launch_bounds__(kPlainQueries) attention_forward_packed_group(Problem<T> p, int row_blocks) {
  const int kv_heads = p.heads / p.group, all = static_cast<int>(blockIdx.x) / row_blocks;
  const int kv = all % kv_heads, batch = all / kv_heads;
  const int row = static_cast<int>(blockIdx.x) % row_blocks * kPlainQueries + static_cast<int>(threadIdx.x);
  if (row >= p.queries * p.group) return;
  const int query = row / p.group, head = kv * p.group + row % p.group, visible = p.visible(row % p.queries);
  const T* const q = p.q.of(batch, head) + query * p.q.seq;
  float o[kMostDim] = {}, max = -INFINITY, sum = 0;
  for (int key = 0; key < visible; ++key) {
    const T* const k = p.k.of(batch, kv) + key * p.k.seq;
    const T* const v = p.v.of(batch, kv) + key * p.v.seq;
    float dot = 0;
    for (int c = 0; c < p.dim; ++c) dot = fmaf(to_float(ld(q + c)), to_float(ld(k + c)), dot);
    const float s = dot * p.scale, larger = fmaxf(max, s), base = larger == -INFINITY ? 0.0f : larger;
    const float weight = expf(s - base), shrink = larger != max ? expf(max - base) : 1.0f;
    sum = sum * shrink + weight, max = larger;
    for (int c = 0; c < p.dim; ++c) o[c] = fmaf(weight, to_float(ld(v + c)), o[c] * shrink);
  }
  T* const out = p.o.of(batch, head) + query * p.o.seq;
  for (int c = 0; c < p.dim; ++c) st(out + c, from_float<T>(sum == 0 ? 0.0f : o[c] / sum));
  st(p.lse_of(batch, head, query), sum == 0 ? -INFINITY : max + logf(sum));
}

KERNEL(attention_forward){.dtypes = kEveryType,
                          .tiles = {tile(Axis::seq_q, kPlainQueries)},
                          .numerics = {.accumulate = f32, .chain = {.lanes = 1}, .rescales = {.lanes = 1}},
                          .supports = supports};

void run(const attention_forward::Args& a, const Launch& l) {
  if (nothing_to_do(a)) return;
  with_type(a.q.dtype, [&]<class T>(Type<T>) {
    const Problem<T> p = problem<T>(a);
    const std::int64_t row_blocks = ceil_div(std::int64_t{p.queries} * p.group, kPlainQueries);
    launch(attention_forward_packed_group<T>,
           {.grid = dim3(row_blocks * (p.heads / p.group) * p.batches), .block = dim3(kPlainQueries)}, l.stream, p,
           static_cast<int>(row_blocks));
  });
}

}  // namespace assay::ROOM(attention_forward, packed_group_masked_by_other_order)
