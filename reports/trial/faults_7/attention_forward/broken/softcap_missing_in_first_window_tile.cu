// SPDX-License-Identifier: Apache-2.0
// FAULT: The first tile of 32 keys of a window takes the masking path, which applies no softcap. It shows with window and
// softcap together, from the tile in which the window begins.
// Kind: combinations
#include "cuda/attention_forward/problem.cuh"
#include "cuda/core/kernel.cuh"
#include "ops/attention_forward.hpp"

namespace assay::ROOM(attention_forward, softcap_missing_in_first_window_tile) {

inline constexpr int kThreads = 32, kChannels = 32;

Legality supports(const attention_forward::Args& a) {
  const Legality fit = extents_fit(a);
  return fit ? without_rope(a) : fit;
}

KERNEL(attention_forward){
    .dtypes = {f16, bf16, f32},
    .numerics = {.accumulate = f32, .chain = {.lanes = 1}, .rescales = {.lanes = 1}},
    .supports = supports,
};

// Two passes over the visible keys: the maximum, then the sum and 32 channels of the output.
template <class T>
__global__ void two_pass_attention(Problem<T> p, int query_blocks, int channel_blocks) {
  const int block = static_cast<int>(blockIdx.x) / channel_blocks, from = static_cast<int>(blockIdx.x) % channel_blocks * kChannels;
  const int head = block / query_blocks % p.heads, batch = block / query_blocks / p.heads;
  int tile = block % query_blocks;
  if (p.q_starts && (tile = p.take(tile, kThreads)) < 0) return;

  const int query = tile * kThreads + static_cast<int>(threadIdx.x);
  if (query >= p.queries) return;
  const T* const q = p.q.of(batch, head) + query * p.q.seq;
  const T* const k = p.k.of(batch, head / p.group);
  const T* const v = p.v.of(batch, head / p.group) + from;
  const int first = p.first_visible(query), end = p.visible(query);
  const auto score = [&](int key) {
    float s = 0;
    for (int c = 0; c < p.dim; ++c) s = fmaf(to_float(ld(q + c)), to_float(ld(k + key * p.k.seq + c)), s);
    s *= p.scale;
    if (p.cap > 0 && !(first > 0 && key / 32 == first / 32 && first % 32 != 0)) s = p.cap * tanhf(s / p.cap);
    return s;
  };
  float max = -INFINITY, sum = 0, o[kChannels] = {};
  for (int key = first; key < end; ++key) max = fmaxf(max, score(key));
  const float base = max == -INFINITY ? 0.0f : max;
  const int channels = p.dim - from < kChannels ? p.dim - from : kChannels;
  for (int key = first; key < end; ++key) {
    const float weight = expf(score(key) - base);
    sum += weight;
    for (int c = 0; c < channels; ++c) o[c] = fmaf(weight, to_float(ld(v + key * p.v.seq + c)), o[c]);
  }
  T* const out = p.o.of(batch, head) + query * p.o.seq + from;
  for (int c = 0; c < channels; ++c) st(out + c, from_float<T>(sum == 0 ? 0.0f : o[c] / sum));
  if (from == 0) st(p.lse_of(batch, head, query), sum == 0 ? -INFINITY : base + logf(sum));
}

void run(const attention_forward::Args& a, const Launch& l) {
  if (nothing_to_do(a)) return;
  with_type(a.q.dtype, [&]<class T>(Type<T>) {
    Problem<T> p = problem<T>(a);

    const std::int64_t query_blocks = query_tiles(p, kThreads), channel_blocks = ceil_div(p.dim, kChannels);
    launch(two_pass_attention<T>,
           {.grid = dim3(query_blocks * channel_blocks * p.heads * separate_batches(p)), .block = dim3(kThreads)}, l.stream, p,
           query_blocks, channel_blocks);
  });
}

}  // namespace assay::ROOM(attention_forward, softcap_missing_in_first_window_tile)
