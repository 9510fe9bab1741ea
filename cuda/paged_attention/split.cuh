// SPDX-License-Identifier: Apache-2.0
// Attention over pages, the positions of a sequence divided into splits.  A block takes one split of one key/value head and up to
// kRows of the queries that share it, so a key is read once for all of them.  A group of lanes reads a key, one 16-byte pack
// each; every such stream of keys has its own online softmax.  Streams are joined in the warp, then in the block, then, if there
// are several splits, in a second kernel: always in the same order.
#pragma once

#include "cuda/paged_attention/problem.cuh"

namespace assay::ASSAY_FLAVOUR::paged_attention_room {

inline constexpr int kSplitWarps = 4, kSplitThreads = kSplitWarps * kWarp;
inline constexpr int kAhead = 4;  // keys and values in flight per stream
inline constexpr int kMostChannels = 256;
inline constexpr float kLn2 = 0.693147181f;

// The widest heads have the fewest streams, one per warp.  A sum is rescaled at most once per kAhead keys of a stream, and at its
// joins: of lanes (twice), warps and splits.
inline constexpr Numerics kSplitNumerics{.accumulate = f32,
                                         .chain = {.lanes = kSplitWarps, .extra = 8},
                                         .function_error = 4,  // exp2_approx: 2^-22
                                         .flushes_subnormals = true,
                                         .rescales = {.lanes = kSplitWarps * kAhead, .extra = 4}};

struct Splits {
  int count;     // splits per sequence
  int each;      // positions per split; 0: equal parts of the length
  int chunks;    // blocks for the queries of one key/value head
  float* parts;  // per query and split: maximum and sum, then output; null with one split
};

// Positions per split: a multiple of a block's step, so that only the last split is partial.
__device__ inline int split_length(const Splits& s, int length, int step) {
  return s.each ? s.each : ((length + s.count - 1) / s.count + step - 1) / step * step;
}

// exp2(m - base), or 0 if m = -inf (no keys).
__device__ inline float shrunk(float m, float base) { return exp2_approx(m - (base == -INFINITY ? 0.0f : base)); }

template <class T, int kDim, bool kPacked>
struct Stream {
  static constexpr int kPack = 16 / sizeof(T), kLanes = kDim / kPack < kWarp ? kDim / kPack : kWarp;
  static constexpr int kPacks = kDim / kPack / kLanes, kChannels = kPack * kPacks;  // per lane
  static constexpr int kStreams = kSplitWarps * (kWarp / kLanes), kStep = kStreams * kAhead;
  // The first channel of a pack of this lane.
  __device__ static int channel(int pack) { return (pack * kLanes + lane_id() % kLanes) * kPack; }
  // Loads a lane's channels of a row; zeros beyond dim, or all zeros if not `there`.
  __device__ static void load(const T* row, bool there, int dim, Vec<T, kPack> (&out)[kPacks]) {
#pragma unroll
    for (int i = 0; i < kPacks; ++i) {
      const int c = channel(i);
      if constexpr (kPacked) {
        if (there && c < dim) out[i] = ld(reinterpret_cast<const Vec<T, kPack>*>(row + c));
      }
#pragma unroll
      for (int j = 0; j < kPack; ++j) {
        if (!there || c + j >= dim) out[i][j] = from_float<T>(0);
        else if constexpr (!kPacked) out[i][j] = ld(row + c + j);
      }
    }
  }
};

template <class T, int kDim, int kRows, bool kPacked>
__global__ void __launch_bounds__(kSplitThreads) paged_attention_split(Problem<T> p, Splits splits, float scale_log2e) {
  using S = Stream<T, kDim, kPacked>;
  const int split = static_cast<int>(blockIdx.x) % splits.count, rest = static_cast<int>(blockIdx.x) / splits.count;
  const int first_row = rest % splits.chunks * kRows, kv = rest / splits.chunks % p.kv_heads;
  const int batch = rest / splits.chunks / p.kv_heads;
  const int rows = p.queries * p.group, length = ld(p.lengths + batch), each = split_length(splits, length, S::kStep);
  const int begin = split * each, end = begin + each < length ? begin + each : length;
  if (begin >= end && split > 0) return;  // the first split handles an empty sequence

  // The queries of the rows, and the number of keys that each sees.
  float q[kRows][S::kChannels], o[kRows][S::kChannels], max[kRows], sum[kRows];
  int limit[kRows], least = end;
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    const int row = first_row + r;
    Vec<T, S::kPack> raw[S::kPacks];
    // Note: element by element, since q may be less aligned than the pools.
    Stream<T, kDim, false>::load(p.q.of(batch, row / p.group, kv * p.group + row % p.group), row < rows, p.dim, raw);
#pragma unroll
    for (int c = 0; c < S::kChannels; ++c) {
      q[r][c] = to_float(raw[c / S::kPack][c % S::kPack]);
      o[r][c] = 0;
    }
    const int seen = row < rows ? p.visible(length, row / p.group) : length;
    limit[r] = seen < end ? seen : end;
    least = limit[r] < least ? limit[r] : least;
    max[r] = -INFINITY;
    sum[r] = 0;
  }

  const std::int32_t* const table = p.table_of(batch);
  const int stream = warp_id() * (kWarp / S::kLanes) + lane_id() / S::kLanes;
  for (int base = begin; base < end; base += S::kStep) {
    // Load the next kAhead keys and values.
    Vec<T, S::kPack> k[kAhead][S::kPacks], v[kAhead][S::kPacks];
#pragma unroll
    for (int u = 0; u < kAhead; ++u) {
      const int key = base + u * S::kStreams + stream, entry = p.entry(key), slot = key - entry * p.page_size;
      const bool there = key < end;
      const std::int64_t page = there ? ld(table + entry) : 0;
      S::load(p.k.of(page, slot, kv), there, p.dim, k[u]);
      S::load(p.v.of(page, slot, kv), there, p.dim, v[u]);
    }
    // Some rows do not see all of these keys: hidden values must not be multiplied by their weight of zero (inf, NaN).
    const bool hidden = base + S::kStep > least;
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      float s[kAhead], larger = max[r];
#pragma unroll
      for (int u = 0; u < kAhead; ++u) {
        float dot = 0;
#pragma unroll
        for (int c = 0; c < S::kChannels; ++c) dot = fmaf(q[r][c], to_float(k[u][c / S::kPack][c % S::kPack]), dot);
#pragma unroll
        for (int offset = S::kLanes / 2; offset > 0; offset /= 2) dot += shuffle_xor(dot, offset);
        s[u] = base + u * S::kStreams + stream < limit[r] ? dot * scale_log2e : -INFINITY;
        larger = fmaxf(larger, s[u]);
      }
      // Note: fmaxf ignores a NaN, which still reaches the sum through its weight.
      const float shrink = shrunk(max[r], larger);
      sum[r] *= shrink;
      max[r] = larger;
#pragma unroll
      for (int c = 0; c < S::kChannels; ++c) o[r][c] *= shrink;
#pragma unroll
      for (int u = 0; u < kAhead; ++u) {
        const float weight = shrunk(s[u], larger);
        const bool sees = !hidden || base + u * S::kStreams + stream < limit[r];
        sum[r] += weight;
#pragma unroll
        for (int c = 0; c < S::kChannels; ++c)
          if (sees) o[r][c] = fmaf(weight, to_float(v[u][c / S::kPack][c % S::kPack]), o[r][c]);
      }
    }
  }

  // Join the streams of a warp.
#pragma unroll
  for (int r = 0; r < kRows; ++r)
#pragma unroll
    for (int offset = S::kLanes; offset < kWarp; offset *= 2) {
      const float other = shuffle_xor(max[r], offset), all = fmaxf(max[r], other);
      const float mine = shrunk(max[r], all), theirs = shrunk(other, all);
      max[r] = all;
      sum[r] = fmaf(sum[r], mine, shuffle_xor(sum[r], offset) * theirs);
#pragma unroll
      for (int c = 0; c < S::kChannels; ++c) o[r][c] = fmaf(o[r][c], mine, shuffle_xor(o[r][c], offset) * theirs);
    }

  // Join the warps of a block through shared memory: [warp, row] maxima and sums, [warp, row, channel] outputs.
  float* const max_of = shared_memory<float>();
  float* const sum_of = max_of + kSplitWarps * kRows;
  float* const o_of = sum_of + kSplitWarps * kRows;
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    const int at = warp_id() * kRows + r;
    if (lane_id() == 0) {
      st(max_of + at, max[r]);
      st(sum_of + at, sum[r]);
    }
#pragma unroll
    for (int c = 0; c < S::kChannels; ++c)
      if (lane_id() < S::kLanes) st(o_of + at * kDim + S::channel(c / S::kPack) + c % S::kPack, o[r][c]);
  }
  sync_block();
  for (int i = static_cast<int>(threadIdx.x); i < kRows * p.dim; i += kSplitThreads) {
    const int r = i / p.dim, c = i % p.dim, row = first_row + r;
    if (row >= rows) break;
    float all = -INFINITY, total = 0, out = 0;
#pragma unroll
    for (int w = 0; w < kSplitWarps; ++w) all = fmaxf(all, ld(max_of + w * kRows + r));
#pragma unroll
    for (int w = 0; w < kSplitWarps; ++w) {
      const float factor = shrunk(ld(max_of + w * kRows + r), all);
      total = fmaf(ld(sum_of + w * kRows + r), factor, total);
      out = fmaf(ld(o_of + (w * kRows + r) * kDim + c), factor, out);
    }
    if (splits.parts == nullptr) {
      const int query = row / p.group, head = kv * p.group + row % p.group;
      st(p.o.of(batch, query, head) + c, from_float<T>(total == 0 ? 0.0f : out / total));
      if (c == 0) st(p.lse.of(batch, query, head), total == 0 ? -INFINITY : fmaf(all, kLn2, logf(total)));
    } else {
      const std::int64_t parts = static_cast<std::int64_t>(p.batches) * p.kv_heads * rows * splits.count;
      const std::int64_t part = ((static_cast<std::int64_t>(batch) * p.kv_heads + kv) * rows + row) * splits.count + split;
      if (c == 0) {
        st(splits.parts + part, all);
        st(splits.parts + parts + part, total);
      }
      st(splits.parts + 2 * parts + part * p.dim + c, out);
    }
  }
}

// Joins the splits of a sequence: one block per query and head.
template <class T>
__global__ void __launch_bounds__(kSplitThreads) paged_attention_join(Problem<T> p, Splits splits, int step) {
  const int rows = p.queries * p.group, row = static_cast<int>(blockIdx.x) % rows;
  const int kv = static_cast<int>(blockIdx.x) / rows % p.kv_heads, batch = static_cast<int>(blockIdx.x) / rows / p.kv_heads;
  const int query = row / p.group, head = kv * p.group + row % p.group;
  const int length = ld(p.lengths + batch), each = split_length(splits, length, step);
  const int used = length > each ? (length + each - 1) / each : 1;
  const std::int64_t parts = static_cast<std::int64_t>(gridDim.x) * splits.count;
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * splits.count;
  const float *const max_of = splits.parts + first, *const sum_of = max_of + parts;
  const float* const o_of = splits.parts + 2 * parts + first * p.dim;

  float all = -INFINITY, total = 0;
  for (int s = 0; s < used; ++s) all = fmaxf(all, ld(max_of + s));
  for (int s = 0; s < used; ++s) total = fmaf(ld(sum_of + s), shrunk(ld(max_of + s), all), total);
  for (int c = static_cast<int>(threadIdx.x); c < p.dim; c += kSplitThreads) {
    float out = 0;
    for (int s = 0; s < used; ++s) {
      const float* const part = o_of + static_cast<std::int64_t>(s) * p.dim;
      out = fmaf(ld(part + c), shrunk(ld(max_of + s), all), out);
    }
    st(p.o.of(batch, query, head) + c, from_float<T>(total == 0 ? 0.0f : out / total));
  }
  if (threadIdx.x == 0) st(p.lse.of(batch, query, head), total == 0 ? -INFINITY : fmaf(all, kLn2, logf(total)));
}

inline std::int64_t room_of_table(const paged_attention::Args& a) { return a.page_table.shape[1] * a.k_pool.shape[1]; }

inline std::size_t parts_bytes(const paged_attention::Args& a, std::int64_t count) {
  const std::int64_t rows = a.q.shape[0] * a.q.shape[1] * a.q.shape[2];
  return count > 1 ? static_cast<std::size_t>(rows * count * (2 + a.q.shape[3])) * sizeof(float) : 0;
}

}  // namespace assay::ASSAY_FLAVOUR::paged_attention_room
