// SPDX-License-Identifier: Apache-2.0
// FAULT: a warp adds its part of dQ by a load and a store, though warps of other keys add to the same sums; wrong from seq_k 33
//   on.
// KIND: concurrency
// Right on: attention_backward f16 batch=1 seq_q=32 seq_k=32 heads=2 kv_heads=2 head_dim=64 fill=normal seed=1
// Wrong on: attention_backward f16 batch=1 seq_q=16 seq_k=96 heads=2 kv_heads=2 head_dim=32 fill=normal seed=1 (with --watch)
#include "cuda/attention_backward/atomic_dq.cuh"

namespace assay::ROOM(attention_backward, dq_added_by_load_and_store) {

KERNEL(attention_backward) = kAtomicTraits;

template <class T>
__global__ void __launch_bounds__(kAtomicKeys)
    attention_backward_added_by_warps(Problem<T> p, float* sums, int blocks, int channel_blocks) {
  const int block = static_cast<int>(blockIdx.x) / channel_blocks, kv_heads = p.heads / p.group, lane = lane_id();
  const int first = static_cast<int>(blockIdx.x) % channel_blocks * kAtomicChannels, first_key = block % blocks * kAtomicKeys;
  const int kv = block / blocks % kv_heads, batch = block / blocks / kv_heads;
  const int channels = p.dim - first < kAtomicChannels ? p.dim - first : kAtomicChannels;
  const T* const keys = p.k.row(batch, kv, first_key);
  const T* const k = keys + lane * p.k.seq;
  const T* const v = p.v.row(batch, kv, first_key + lane);
  float* const gradients = shared_memory<float>();  // dS of a query and the warp's keys

  float dk[kAtomicChannels] = {}, dv[kAtomicChannels] = {};
  for (int head = kv * p.group; head < (kv + 1) * p.group; ++head)
    for (int query = p.seen_from(first_key); query < p.queries; ++query) {
      const float lse = ld(p.lse.row(batch, head, query)), d = ld(p.d_of(batch, head) + query);
      if (lse == -INFINITY) continue;
      const T* const q = p.q.row(batch, head, query) + first;
      const T* const d_o = p.d_o.row(batch, head, query) + first;
      const int visible = p.visible(query) - first_key, seen = visible < kAtomicKeys ? visible : kAtomicKeys;
      float ds = 0;
      if (lane < seen) {
        const float weight = expf(row_dot(q - first, k, p.dim) * p.scale - lse);
        ds = weight * (row_dot(d_o - first, v, p.dim) - d);
#pragma unroll
        for (int c = 0; c < kAtomicChannels; ++c)
          if (c < channels) dk[c] = fmaf(ds, to_float(ld(q + c)), dk[c]), dv[c] = fmaf(weight, to_float(ld(d_o + c)), dv[c]);
      }
      sync_warp();  // all lanes are done with the last query's
      st(gradients + lane, ds);
      sync_warp();
      float* const dq = sums + ((static_cast<std::int64_t>(batch) * p.queries + query) * p.heads + head) * p.dim + first;
      for (int c = lane; c < channels; c += kWarp) {
        float sum = 0;
        for (int key = 0; key < seen; ++key) sum = fmaf(ld(gradients + key), to_float(ld(keys + key * p.k.seq + first + c)), sum);
        st(dq + c, ld(dq + c) + sum);
      }
    }
  T* const out_k = p.dk.row(batch, kv, first_key + lane) + first;
  T* const out_v = p.dv.row(batch, kv, first_key + lane) + first;
#pragma unroll
  for (int c = 0; c < kAtomicChannels; ++c)
    if (c < channels && first_key + lane < p.keys)
      st(out_k + c, from_float<T>(dk[c] * p.scale)), st(out_v + c, from_float<T>(dv[c]));
}

void run(const attention_backward::Args& a, const Launch& l) {
  with_type(a.q.dtype, [&]<class T>(Type<T>) {
    const Problem<T> p = problem<T>(a, l);
    run_row_dots(p, l);
    run_clear(a, l);
    if (p.batches > 0 && p.keys > 0) {
      const std::int64_t blocks = ceil_div(p.keys, kAtomicKeys), channel_blocks = ceil_div(p.dim, kAtomicChannels);
      launch(attention_backward_added_by_warps<T>,
             {.grid = dim3(blocks * channel_blocks * (p.heads / p.group) * p.batches),
              .block = dim3(kAtomicKeys),
              .shared_bytes = kAtomicKeys * sizeof(float)},
             l.stream, p, sums_in(a, l), blocks, channel_blocks);
    }
    run_convert(a, p, l);
  });
}

}  // namespace assay::ROOM(attention_backward, dq_added_by_load_and_store)
