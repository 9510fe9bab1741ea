// SPDX-License-Identifier: Apache-2.0
// FAULT: takes four keys at a time with one rescale for the four; the loop for the last one to three keys raises the maximum
// and the sum, but forgets to rescale the output. Visible where the number of visible keys is no multiple of 4 and one of the
// last keys has the largest score.
// KIND: algorithm
#include "cuda/attention_forward/problem.cuh"

namespace assay::ROOM(attention_forward, tail_keys_not_rescaled) {

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

template <class T, bool kRotated>
__global__ void __launch_bounds__(kThreads) attention_forward_naive(Problem<T> p, int query_blocks, int channel_blocks) {
  const int block = static_cast<int>(blockIdx.x) / channel_blocks;
  const int first = static_cast<int>(blockIdx.x) % channel_blocks * kChannels;
  const int head = block / query_blocks % p.heads, batch = block / query_blocks / p.heads;
  int tile = block % query_blocks;
  if (p.q_starts && (tile = p.take(tile, kThreads)) < 0) return;
  const int query = tile * kThreads + static_cast<int>(threadIdx.x);
  if (query >= p.queries) return;
  const T* const q = p.q.of(batch, head) + query * p.q.seq;
  const T* k = p.k.of(batch, head / p.group);
  const T* v = p.v.of(batch, head / p.group) + first;
  const int channels = p.dim - first < kChannels ? p.dim - first : kChannels;

  float o[kChannels] = {}, max = -INFINITY, sum = 0;
  const int first_key = p.first_visible(query), visible = p.visible(query);
  const auto score = [&](int key) {
    float s = 0;
    if constexpr (kRotated) s = rotated_dot(p.rope, p.dim, q, k + key * p.k.seq, p.place(query), key);
    else
      for (int c = 0; c < p.dim; ++c) s = fmaf(to_float(ld(q + c)), to_float(ld(k + key * p.k.seq + c)), s);
    s *= p.scale;
    return p.cap > 0 ? p.cap * tanhf(s / p.cap) : s;
  };
  const auto add = [&](float weight, int key) {
    sum += weight;
#pragma unroll
    for (int c = 0; c < kChannels; ++c)
      if (c < channels) o[c] = fmaf(weight, to_float(ld(v + key * p.v.seq + c)), o[c]);
  };
  int key = first_key;
  for (; key + 4 <= visible; key += 4) {
    float s[4], larger = max;
#pragma unroll
    for (int u = 0; u < 4; ++u) s[u] = score(key + u), larger = fmaxf(larger, s[u]);
    const float base = larger == -INFINITY ? 0.0f : larger, shrink = expf(max - base);
    sum *= shrink;
#pragma unroll
    for (int c = 0; c < kChannels; ++c) o[c] *= shrink;
    max = larger;
#pragma unroll
    for (int u = 0; u < 4; ++u) add(expf(s[u] - base), key + u);
  }
  for (; key < visible; ++key) {
    const float s = score(key), larger = fmaxf(max, s), base = larger == -INFINITY ? 0.0f : larger;
    sum *= expf(max - base);
    max = larger;
    add(expf(s - base), key);
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
    launch(p.rope.rotary ? attention_forward_naive<T, true> : attention_forward_naive<T, false>,
           {.grid = dim3(query_blocks * channel_blocks * p.heads * separate_batches(p)), .block = dim3(kThreads)}, l.stream, p,
           query_blocks, channel_blocks);
  });
}

}  // namespace assay::ROOM(attention_forward, tail_keys_not_rescaled)
