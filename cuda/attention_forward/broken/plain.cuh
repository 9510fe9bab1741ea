// SPDX-License-Identifier: Apache-2.0
// The steps of a plain kernel (core/kernel_family.cuh): one thread for each query and 64 channels of its output, key after key,
// the softmax kept up as it goes.
#pragma once

#include "cuda/attention_forward/problem.cuh"
#include "cuda/core/kernel_family.cuh"

namespace assay::ASSAY_FLAVOUR::attention_forward_room {

inline constexpr int kPlainQueries = 32, kPlainChannels = 64;

struct Keys {
  int first, end;
};

// Every step as it should be.
template <class T>
struct Plain {
  static constexpr bool kRotated = false;              // held to how q and k are rotated
  static constexpr bool kNarrowProbabilities = false;  // as declared

  static int batches(const Problem<T>& p) { return separate_batches(p); }
  static void* stream(const Problem<T>&, const Launch& l) { return l.stream; }

  // Of packed sequences, Problem::take.
  static __device__ int take(Problem<T>& p, int tile) { return p.take(tile, kPlainQueries); }
  static __device__ int kv_head(const Problem<T>& p, int head) { return head / p.group; }
  static __device__ Keys seen(const Problem<T>& p, int query) { return {p.first_visible(query), p.visible(query)}; }
  // The key that is taken when seen.first, seen.first + 1, ... would be.
  static __device__ int taken(const Keys&, int key) { return key; }

  static __device__ float dot(const Problem<T>& p, const T* q, const T* k, int query, int key) {
    return rotated_dot(p.rope, p.dim, q, k, p.place(query), key);
  }
  static __device__ float score(const Problem<T>& p, float dot) { return dot * p.scale; }
  static __device__ float softcapped(const Problem<T>& p, float s) { return p.cap > 0 ? p.cap * tanhf(s / p.cap) : s; }
  static __device__ bool counts(float /*score*/) { return true; }
  static __device__ float exponential(const Problem<T>&, float v) { return expf(v); }

  // What was summed, scaled down when a larger score comes; the output with the next key's value added.
  static __device__ float shrunk_sum(float sum, float shrink) { return sum * shrink; }
  static __device__ float shrunk_output(float o, float shrink) { return o * shrink; }
  static __device__ float added(float o, float weight, float v) { return fmaf(weight, v, o); }

  static __device__ float output(float o, float sum) { return sum == 0 ? 0.0f : o / sum; }
  static __device__ T stored(float v) { return from_float<T>(v); }
  static __device__ float* lse_of(const Problem<T>& p, int batch, int head, int query) { return p.lse_of(batch, head, query); }
  static __device__ float lse(float max, float sum) { return sum == 0 ? -INFINITY : max + logf(sum); }
};

template <class T>
struct Turned : Plain<T> {
  static constexpr bool kRotated = true;
};

template <class T, class S>
__global__ void __launch_bounds__(kPlainQueries) attention_forward_plain(Problem<T> p, int query_blocks, int channel_blocks) {
  const int block = static_cast<int>(blockIdx.x) / channel_blocks;
  const int first = static_cast<int>(blockIdx.x) % channel_blocks * kPlainChannels;
  const int head = block / query_blocks % p.heads, batch = block / query_blocks / p.heads;
  int tile = block % query_blocks;
  if (p.q_starts) tile = S::take(p, tile);
  if (tile < 0) return;
  const int query = tile * kPlainQueries + static_cast<int>(threadIdx.x);
  if (query >= p.queries) return;
  const int kv_head = S::kv_head(p, head), channels = p.dim - first < kPlainChannels ? p.dim - first : kPlainChannels;
  const T* const q = p.q.of(batch, head) + query * p.q.seq;

  float o[kPlainChannels] = {}, max = -INFINITY, sum = 0;
  const Keys seen = S::seen(p, query);
  for (int i = seen.first; i < seen.end; ++i) {
    const int key = S::taken(seen, i);
    const T* const k = p.k.of(batch, kv_head) + key * p.k.seq;
    const T* const v = p.v.of(batch, kv_head) + key * p.v.seq + first;
    const float s = S::softcapped(p, S::score(p, S::dot(p, q, k, query, key)));
    if (!S::counts(s)) continue;

    // Note: fmaxf passes over a NaN, which then reaches the sum through its weight.
    const float larger = fmaxf(max, s), base = larger == -INFINITY ? 0.0f : larger;
    const float weight = S::exponential(p, s - base);
    if (larger != max) {
      const float shrink = S::exponential(p, max - base);
      sum = S::shrunk_sum(sum, shrink);
#pragma unroll
      for (int c = 0; c < kPlainChannels; ++c) o[c] = S::shrunk_output(o[c], shrink);
      max = larger;
    }
    sum += weight;
#pragma unroll
    for (int c = 0; c < kPlainChannels; ++c)
      if (c < channels) o[c] = S::added(o[c], weight, to_float(ld(v + c)));
  }

  T* const out = p.o.of(batch, head) + query * p.o.seq + first;
#pragma unroll
  for (int c = 0; c < kPlainChannels; ++c)
    if (c < channels) st(out + c, S::stored(S::output(o[c], sum)));
  if (first == 0) st(S::lse_of(p, batch, head, query), S::lse(max, sum));
}

template <template <class> class S>
constexpr KernelTraits<attention_forward> plain_traits(DTypes dtypes = kEveryType) {
  constexpr bool kRotated = S<float>::kRotated;
  return {.dtypes = dtypes,
          .tiles = {tile(Axis::seq_q, kPlainQueries), tile(Axis::head_dim, kPlainChannels)},
          .numerics = {.accumulate = f32,
                       .chain = {.lanes = 1},
                       .narrow_probabilities = S<float>::kNarrowProbabilities,
                       .angle_error = kRotated ? kAngleError : Numerics{}.angle_error,
                       .reduced_angle_error = kRotated ? kReducedAngleError : Numerics{}.reduced_angle_error,
                       .rescales = {.lanes = 1}},
          .supports = extents_fit};
}

template <template <class> class S>
void run_plain(const attention_forward::Args& a, const Launch& l) {
  if (nothing_to_do(a)) return;
  with_type(a.q.dtype, [&]<class T>(Type<T>) {
    const Problem<T> p = problem<T>(a);
    const std::int64_t query_blocks = query_tiles(p, kPlainQueries), channel_blocks = ceil_div(p.dim, kPlainChannels);
    launch(attention_forward_plain<T, S<T>>,
           {.grid = dim3(query_blocks * channel_blocks * p.heads * S<T>::batches(p)), .block = dim3(kPlainQueries)},
           S<T>::stream(p, l), p, query_blocks, channel_blocks);
  });
}

}  // namespace assay::ASSAY_FLAVOUR::attention_forward_room
