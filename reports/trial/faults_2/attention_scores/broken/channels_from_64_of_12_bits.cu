// SPDX-License-Identifier: Apache-2.0
// FAULT: the products of the channels from 64 on are added up in a second sum, which is kept to 12 bits.
// Kind: precision
// Shows: f32 with head_dim > 64.
#include "cuda/attention_scores/broken/plain.cuh"

namespace assay::ROOM(attention_scores, channels_from_64_of_12_bits) {

template <class T>
__global__ void two_sums(Problem<T> m) {
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * kPlainQueries + warp_id();
  if (row >= m.batch * m.heads * m.seq_q) return;
  const Query at = query_of(m, row);
  const T* const q = m.q.at(at.batch, at.query, at.head);
  T* const p = m.p.at(at.batch, at.head, at.query);
  const auto score = [&](std::int64_t key) {
    const T* const k = m.k.at(at.batch, key, at.head / m.group);
    const int low = m.dim < 64 ? m.dim : 64;
    float first = 0, second = 0;
    for (int c = 0; c < low; ++c) first = fmaf(to_float(ld(q + c)), to_float(ld(k + c)), first);
    for (int c = low; c < m.dim; ++c) second = of_12_bits(fmaf(to_float(ld(q + c)), to_float(ld(k + c)), second));
    return (first + second) * m.scale;
  };
  const std::int64_t seen = m.visible(at.query);
  float max = -INFINITY, sum = 0;
  for (std::int64_t key = lane_id(); key < seen; key += kWarp) max = fmaxf(max, score(key));
  const float base = Plain<T>::base(warp_max(max));
  for (std::int64_t key = lane_id(); key < seen; key += kWarp) sum += expf(score(key) - base);
  sum = warp_sum(sum);
  for (std::int64_t key = lane_id(); key < m.seq_k; key += kWarp)
    st(p + key, from_float<T>(key < seen && sum != 0 ? expf(score(key) - base) / sum : 0.0f));
}

KERNEL(attention_scores) = plain_traits<Plain>();

void run(const attention_scores::Args& a, const Launch& l) {
  if (a.p.size() == 0) return;
  with_type(a.q.dtype, [&]<class T>(Type<T>) {
    launch(two_sums<T>,
           {.grid = dim3(ceil_div(a.p.size() / a.p.shape[3], kPlainQueries)), .block = dim3(kPlainQueries * kWarp)}, l.stream,
           problem<T>(a));
  });
}

}  // namespace assay::ROOM(attention_scores, channels_from_64_of_12_bits)
