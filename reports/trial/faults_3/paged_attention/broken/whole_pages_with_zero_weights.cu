// SPDX-License-Identifier: Apache-2.0
// FAULT: all slots of a page are processed, those after the last position with a weight of zero that is multiplied by whatever
// they hold.
// Kind: ranges
// Shows: unused slots of a sequence's last page that hold NaN or infinity in V.
#include "cuda/paged_attention/broken/plain.cuh"

namespace assay::ROOM(paged_attention, whole_pages_with_zero_weights) {

template <class T>
__global__ void paged_attention_whole_pages(Problem<T> p, int row_blocks, int channel_blocks) {
  const int block = static_cast<int>(blockIdx.x) / channel_blocks, batch = block / row_blocks;
  const int first = static_cast<int>(blockIdx.x) % channel_blocks * kPlainChannels;
  const int row = block % row_blocks * kPlainThreads + lane_id();
  if (row >= p.queries * p.heads) return;
  const int query = row / p.heads, head = row % p.heads, kv_head = head / p.group;
  const T* const q = p.q.of(batch, query, head);
  const std::int32_t* const table = p.table_of(batch);
  const int channels = p.dim - first < kPlainChannels ? p.dim - first : kPlainChannels;
  const int visible = p.visible(ld(p.lengths + batch), query), pages = (visible + p.page_size - 1) / p.page_size;

  float o[kPlainChannels] = {}, max = -INFINITY, sum = 0;
  for (int entry = 0; entry < pages; ++entry) {
    const std::int64_t page = ld(table + entry);
    for (int slot = 0; slot < p.page_size; ++slot) {
      const T* const k = p.k.of(page, slot, kv_head);
      const T* const v = p.v.of(page, slot, kv_head) + first;
      const bool there = entry * p.page_size + slot < visible;
      float s = -INFINITY;
      if (there) {
        float dot = 0;
        for (int c = 0; c < p.dim; ++c) dot = fmaf(to_float(ld(q + c)), to_float(ld(k + c)), dot);
        s = dot * p.scale;
      }
      const float larger = fmaxf(max, s), base = larger == -INFINITY ? 0.0f : larger;
      const float weight = expf(s - base), shrink = expf(max - base);
      if (larger != max) {
        sum *= shrink;
        for (int c = 0; c < kPlainChannels; ++c) o[c] *= shrink;
        max = larger;
      }
      sum += weight;
      for (int c = 0; c < channels; ++c) o[c] = fmaf(weight, to_float(ld(v + c)), o[c]);
    }
  }
  T* const out = p.o.of(batch, query, head) + first;
  for (int c = 0; c < channels; ++c) st(out + c, from_float<T>(sum == 0 ? 0.0f : o[c] / sum));
  if (first == 0) st(p.lse.of(batch, query, head), sum == 0 ? -INFINITY : max + logf(sum));
}

KERNEL(paged_attention) = plain_traits<Plain>();

void run(const paged_attention::Args& a, const Launch& l) {
  if (nothing_to_do(a)) return;
  with_type(a.q.dtype, [&]<class T>(Type<T>) {
    const Problem<T> p = problem<T>(a);
    const std::int64_t row_blocks = ceil_div(std::int64_t{p.queries} * p.heads, kPlainThreads);
    const std::int64_t channel_blocks = ceil_div(p.dim, kPlainChannels);
    launch(paged_attention_whole_pages<T>, {.grid = dim3(row_blocks * channel_blocks * p.batches), .block = dim3(kPlainThreads)},
           l.stream, p, static_cast<int>(row_blocks), static_cast<int>(channel_blocks));
  });
}

}  // namespace assay::ROOM(paged_attention, whole_pages_with_zero_weights)
