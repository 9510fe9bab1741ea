// SPDX-License-Identifier: Apache-2.0
// FAULT: keys are split in two halves whose outputs are divided by their own sums before they are joined, and an empty half
// gives 0 / 0.
// Kind: ranges
// Shows: queries that see keys of one half only, or none, as under a mask.
#include "cuda/attention_forward/broken/plain.cuh"

namespace assay::ROOM(attention_forward, empty_split_divides_zero_by_zero) {

inline constexpr int kMostDim = 128;

Legality supports(const attention_forward::Args& a) {
  if (a.q.shape[3] > kMostDim) return Legality::no("head_dim exceeds 128");
  const Legality fits = extents_fit(a);
  return fits ? only_masks(a) : fits;
}

template <class T>
__global__ void __launch_bounds__(kPlainQueries) attention_forward_two_halves(Problem<T> p, int query_blocks) {
  const int all = static_cast<int>(blockIdx.x) / query_blocks, head = all % p.heads, batch = all / p.heads;
  const int query = static_cast<int>(blockIdx.x) % query_blocks * kPlainQueries + static_cast<int>(threadIdx.x);
  if (query >= p.queries) return;
  const T* const q = p.q.of(batch, head) + query * p.q.seq;
  const int visible = p.visible(query), half = (p.keys + 1) / 2;
  float joined[kMostDim] = {}, joined_lse = -INFINITY;
  for (int part = 0; part < 2; ++part) {
    const int begin = part * half, end = part == 0 && half < visible ? half : visible;
    float o[kMostDim] = {}, max = -INFINITY, sum = 0;
    for (int key = begin; key < end; ++key) {
      const T* const k = p.k.of(batch, head / p.group) + key * p.k.seq;
      const T* const v = p.v.of(batch, head / p.group) + key * p.v.seq;
      float dot = 0;
      for (int c = 0; c < p.dim; ++c) dot = fmaf(to_float(ld(q + c)), to_float(ld(k + c)), dot);
      const float s = dot * p.scale, larger = fmaxf(max, s), base = larger == -INFINITY ? 0.0f : larger;
      const float weight = expf(s - base), shrink = larger != max ? expf(max - base) : 1.0f;
      sum = sum * shrink + weight, max = larger;
      for (int c = 0; c < p.dim; ++c) o[c] = fmaf(weight, to_float(ld(v + c)), o[c] * shrink);
    }
    const float lse = max + logf(sum), larger = fmaxf(joined_lse, lse), base = larger == -INFINITY ? 0.0f : larger;
    const float before = expf(joined_lse - base), now = expf(lse - base), total = before + now;
    for (int c = 0; c < p.dim; ++c) joined[c] = (joined[c] * before + o[c] / sum * now) / total;
    joined_lse = larger == -INFINITY ? -INFINITY : larger + logf(total);
  }
  T* const out = p.o.of(batch, head) + query * p.o.seq;
  for (int c = 0; c < p.dim; ++c) st(out + c, from_float<T>(joined[c]));
  st(p.lse_of(batch, head, query), joined_lse);
}

KERNEL(attention_forward){.dtypes = kEveryType,
                          .tiles = {tile(Axis::seq_q, kPlainQueries)},
                          .numerics = {.accumulate = f32,
                                       .chain = {.lanes = 1, .extra = 4},
                                       .rescales = {.lanes = 1, .extra = 2}},
                          .supports = supports};

void run(const attention_forward::Args& a, const Launch& l) {
  if (nothing_to_do(a)) return;
  with_type(a.q.dtype, [&]<class T>(Type<T>) {
    const Problem<T> p = problem<T>(a);
    const std::int64_t query_blocks = ceil_div(p.queries, kPlainQueries);
    launch(attention_forward_two_halves<T>, {.grid = dim3(query_blocks * p.heads * p.batches), .block = dim3(kPlainQueries)},
           l.stream, p, static_cast<int>(query_blocks));
  });
}

}  // namespace assay::ROOM(attention_forward, empty_split_divides_zero_by_zero)
