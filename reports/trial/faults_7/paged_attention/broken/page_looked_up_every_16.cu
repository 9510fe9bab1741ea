// SPDX-License-Identifier: Apache-2.0
// FAULT: The page of a key is looked up at the last multiple of 16 positions. It is wrong for page sizes that 16 does not
// divide, except those of which 16 positions lie in one page.
// Kind: algorithm
#include "cuda/core/kernel.cuh"
#include "cuda/paged_attention/problem.cuh"
#include "ops/paged_attention.hpp"

namespace assay::ROOM(paged_attention, page_looked_up_every_16) {

using namespace paged_attention_room;

KERNEL(paged_attention){
    .dtypes = {f16, bf16, f32},
    .numerics = {.accumulate = f32, .chain = {.lanes = 1}, .rescales = {.lanes = 1}},
    .supports = extents_fit,
};

// One block of 32 threads per query and head: a thread has every 32nd channel, all share the score.
template <class T>
__global__ void paged_query(Problem<T> p) {
  const int head = static_cast<int>(blockIdx.x) % p.heads, row = static_cast<int>(blockIdx.x) / p.heads;
  const int query = row % p.queries, batch = row / p.queries;
  const T* const q = p.q.of(batch, query, head);
  const std::int32_t* const table = p.table + batch * p.table_stride;
  const int end = p.visible(ld(p.lengths + batch), query);
  const auto score = [&](int key) {
    const T* const k = p.k.of(ld(table + key / 16 * 16 / p.page_size), key % p.page_size, head / p.group);
    float s = 0;
    for (int c = 0; c < p.dim; ++c) s = fmaf(to_float(ld(q + c)), to_float(ld(k + c)), s);
    return s * p.scale;
  };
  float max = -INFINITY, sum = 0;
  for (int key = 0; key < end; ++key) max = fmaxf(max, score(key));
  const float base = max == -INFINITY ? 0.0f : max;
  for (int key = 0; key < end; ++key) sum += expf(score(key) - base);
  T* const out = p.o.of(batch, query, head);
  for (int c = lane_id(); c < p.dim; c += kWarp) {
    float o = 0;
    for (int key = 0; key < end; ++key)
      o = fmaf(expf(score(key) - base), to_float(ld(p.v.of(ld(table + key / 16 * 16 / p.page_size), key % p.page_size, head / p.group) + c)), o);
    st(out + c, from_float<T>(sum == 0 ? 0.0f : o / sum));
  }
  if (lane_id() == 0) st(p.lse.of(batch, query, head), sum == 0 ? -INFINITY : base + logf(sum));
}

void run(const paged_attention::Args& a, const Launch& l) {
  if (nothing_to_do(a)) return;
  with_type(a.q.dtype, [&]<class T>(Type<T>) {
    Problem<T> p = problem<T>(a);
    launch(paged_query<T>, {.grid = dim3(static_cast<std::int64_t>(p.batches) * p.queries * p.heads), .block = dim3(kWarp)}, l.stream, p);
  });
}

}  // namespace assay::ROOM(paged_attention, page_looked_up_every_16)
