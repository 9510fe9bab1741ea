// SPDX-License-Identifier: Apache-2.0
// The naive kernel, its keys taken from the last to the first.
#include "cuda/attention_forward/problem.cuh"

namespace assay::ROOM(attention_forward, reversed_keys) {

inline constexpr int kThreads = 32, kChannels = 64;

KERNEL(attention_forward){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::seq_q, kThreads), tile(Axis::head_dim, kChannels)},
    .numerics = {.accumulate = f32,
                 .chain = {.lanes = 1},
                 .angle_error = kAngleError,
                 .reduced_angle_error = kReducedAngleError,
                 .rescales = {.lanes = 1}},
    .supports = extents_fit,
};

template <class T>
__global__ void __launch_bounds__(kThreads) attention_forward_reversed(Problem<T> p, int query_blocks, int channel_blocks) {
  const int block = static_cast<int>(blockIdx.x) / channel_blocks;
  const int first = static_cast<int>(blockIdx.x) % channel_blocks * kChannels;
  const int head = block / query_blocks % p.heads, batch = block / query_blocks / p.heads;
  int tile = block % query_blocks;
  if (p.q_starts) tile = p.take(tile, kThreads);
  if (tile < 0) return;
  const int query = tile * kThreads + static_cast<int>(threadIdx.x);
  if (query >= p.queries) return;
  const T* const q = p.q.of(batch, head) + query * p.q.seq;
  const T* k = p.k.of(batch, head / p.group);
  const T* v = p.v.of(batch, head / p.group) + first;
  const int channels = p.dim - first < kChannels ? p.dim - first : kChannels;

  float o[kChannels] = {}, max = -INFINITY, sum = 0;
  const int first_key = p.first_visible(query), visible = p.visible(query);
  k += (visible - 1) * p.k.seq;
  v += (visible - 1) * p.v.seq;
  for (int key = visible - 1; key >= first_key; --key, k -= p.k.seq, v -= p.v.seq) {
    float s = rotated_dot(p.rope, p.dim, q, k, p.place(query), key) * p.scale;
    if (p.cap > 0) s = p.cap * tanhf(s / p.cap);

    // Note: fmaxf ignores a NaN, which still reaches the sum through its weight.
    const float larger = fmaxf(max, s), base = larger == -INFINITY ? 0.0f : larger;
    const float weight = expf(s - base);
    if (larger != max) {
      const float shrink = expf(max - base);
      sum *= shrink;
#pragma unroll
      for (int c = 0; c < kChannels; ++c) o[c] *= shrink;
      max = larger;
    }
    sum += weight;
#pragma unroll
    for (int c = 0; c < kChannels; ++c)
      if (c < channels) o[c] = fmaf(weight, to_float(ld(v + c)), o[c]);
  }

  T* const out = p.o.of(batch, head) + query * p.o.seq + first;
#pragma unroll
  for (int c = 0; c < kChannels; ++c)
    if (c < channels) st(out + c, from_float<T>(sum == 0 ? 0.0f : o[c] / sum));
  if (first == 0) st(p.lse_of(batch, head, query), sum == 0 ? -INFINITY : max + logf(sum));
}

void run(const attention_forward::Args& a, const Launch& l) {
  if (nothing_to_do(a)) return;
  with_type(a.q.dtype, [&]<class T>(Type<T>) {
    const Problem<T> p = problem<T>(a);
    const std::int64_t query_blocks = query_tiles(p, kThreads), channel_blocks = ceil_div(p.dim, kChannels);
    launch(attention_forward_reversed<T>,
           {.grid = dim3(query_blocks * channel_blocks * p.heads * separate_batches(p)), .block = dim3(kThreads)}, l.stream, p,
           query_blocks, channel_blocks);
  });
}

}  // namespace assay::ROOM(attention_forward, reversed_keys)
