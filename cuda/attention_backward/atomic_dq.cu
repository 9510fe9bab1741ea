// SPDX-License-Identifier: Apache-2.0
// One pass over the pairs, split by keys: D first, dQ cleared; a warp per 32 keys and 64 channels sums dK and dV in registers and
// adds its part of dQ to f32 sums in memory with atomics; a last kernel scales and rounds dQ.  Any head_dim, any layout.  The
// order of the additions, and so the last bits of dQ, change from run to run.
#include "cuda/attention_backward/problem.cuh"

namespace assay::ROOM(attention_backward, atomic_dq) {

constexpr int kAtomicKeys = 32, kAtomicChannels = 64, kAtomicThreads = 128;  // last: element-wise kernels

// dQ without its scale, f32 [batch, seq_q, heads, head_dim], after D in the workspace.
std::int64_t size_of_sums(const attention_backward::Args& a) { return a.q.size(); }
std::size_t bytes_with_sums(const attention_backward::Args& a) {
  return bytes_of_d(a) + static_cast<std::size_t>(size_of_sums(a)) * sizeof(float);
}
float* sums_in(const attention_backward::Args& a, const Launch& l) {
  return static_cast<float*>(l.workspace) + bytes_of_d(a) / sizeof(float);
}

template <class Sum>
__global__ void __launch_bounds__(kAtomicThreads) attention_backward_clear(Sum* sums, std::int64_t size) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kAtomicThreads + threadIdx.x;
  if (i < size) st(sums + i, Sum(0));
}

template <class T>
__device__ void convert_element(const Problem<T>& p, const float* sums, std::int64_t i) {
  const std::int64_t row = i / p.dim, token = row / p.heads;
  const int batch = static_cast<int>(token / p.queries), query = static_cast<int>(token % p.queries);
  T* const dq = p.dq.row(batch, static_cast<int>(row % p.heads), query);
  st(dq + i % p.dim, from_float<T>(ld(sums + i) * p.scale));
}

template <class T>
__global__ void __launch_bounds__(kAtomicKeys)
    attention_backward_key_warps(Problem<T> p, float* sums, int blocks, int channel_blocks) {
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
          if (c < channels) {
            dk[c] = fmaf(ds, to_float(ld(q + c)), dk[c]);
            dv[c] = fmaf(weight, to_float(ld(d_o + c)), dv[c]);
          }
      }
      sync_warp();  // all lanes are done with the last query's
      st(gradients + lane, ds);
      sync_warp();
      float* const dq = sums + ((static_cast<std::int64_t>(batch) * p.queries + query) * p.heads + head) * p.dim + first;
      for (int c = lane; c < channels; c += kWarp) {
        float sum = 0;
        for (int key = 0; key < seen; ++key) sum = fmaf(ld(gradients + key), to_float(ld(keys + key * p.k.seq + first + c)), sum);
        atomic_add(dq + c, sum);
      }
    }
  T* const out_k = p.dk.row(batch, kv, first_key + lane) + first;
  T* const out_v = p.dv.row(batch, kv, first_key + lane) + first;
#pragma unroll
  for (int c = 0; c < kAtomicChannels; ++c)
    if (c < channels && first_key + lane < p.keys) {
      st(out_k + c, from_float<T>(dk[c] * p.scale));
      st(out_v + c, from_float<T>(dv[c]));
    }
}

template <class T>
__global__ void __launch_bounds__(kAtomicThreads) attention_backward_convert(Problem<T> p, const float* sums, std::int64_t size) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kAtomicThreads + threadIdx.x;
  if (i < size) convert_element(p, sums, i);
}

void run_clear(const attention_backward::Args& a, const Launch& l) {
  const std::int64_t size = size_of_sums(a);
  if (size == 0) return;
  launch(attention_backward_clear<float>, {.grid = dim3(ceil_div(size, kAtomicThreads)), .block = dim3(kAtomicThreads)}, l.stream,
         sums_in(a, l), size);
}
template <class T>
void run_key_warps(const attention_backward::Args& a, const Problem<T>& p, const Launch& l) {
  if (p.batches == 0 || p.keys == 0) return;
  const std::int64_t blocks = ceil_div(p.keys, kAtomicKeys), channel_blocks = ceil_div(p.dim, kAtomicChannels);
  launch(attention_backward_key_warps<T>,
         {.grid = dim3(blocks * channel_blocks * (p.heads / p.group) * p.batches),
          .block = dim3(kAtomicKeys),
          .shared_bytes = kAtomicKeys * sizeof(float)},
         l.stream, p, sums_in(a, l), blocks, channel_blocks);
}
template <class T>
void run_convert(const attention_backward::Args& a, const Problem<T>& p, const Launch& l) {
  const std::int64_t size = size_of_sums(a);
  if (size == 0) return;
  launch(attention_backward_convert<T>, {.grid = dim3(ceil_div(size, kAtomicThreads)), .block = dim3(kAtomicThreads)}, l.stream,
         p, sums_in(a, l), size);
}

// Note: dK and dV are serial sums over all queries; dQ's are shorter: 32 terms in a warp, then one per 32 keys.
KERNEL(attention_backward){
    .dtypes = {f16, bf16, f32},
    .deterministic = false,
    .tiles = {tile(Axis::seq_k, kAtomicKeys), tile(Axis::head_dim, kAtomicChannels)},
    .numerics = {.accumulate = f32, .chain = {.lanes = 1}},
    .supports = extents_fit,
    .workspace_bytes = bytes_with_sums,
};

void run(const attention_backward::Args& a, const Launch& l) {
  with_type(a.q.dtype, [&]<class T>(Type<T>) {
    const Problem<T> p = problem<T>(a, l);
    run_row_dots(p, l);
    run_clear(a, l);
    run_key_warps(a, p, l);
    run_convert(a, p, l);
  });
}

}  // namespace assay::ROOM(attention_backward, atomic_dq)
