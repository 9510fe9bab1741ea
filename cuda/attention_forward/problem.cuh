// SPDX-License-Identifier: Apache-2.0
// Kernel arguments of attention: the tensors, and which keys a query sees.
#pragma once

#include "cuda/core/rotation.cuh"
#include "ops/attention_forward.hpp"

namespace assay::ASSAY_FLAVOUR::attention_forward_room {

// A [batch, seq, heads, head_dim] tensor; strides in elements, channels contiguous.
template <class T>
struct Heads {
  T* data;
  std::int64_t batch, seq, head;
  __device__ T* of(int b, int h) const { return data + b * batch + h * head; }
};

// Rope parameters; rotary 0: no rope.
struct Rope {
  int rotary, offset;
  bool interleaved;
  double step;  // the frequency of pair i is 2^(-i step)
  __device__ Rotation rotation(int i, int position) const { return rotation_by(angle_of(step, i, offset + position)); }
};

template <class T>
struct Problem {
  Heads<const T> q, k, v;
  Heads<T> o;
  Heads<float> lse;                               // [batch, heads, seq_q]
  int batches, queries, keys, heads, group, dim;  // group: query heads that share a key/value head
  int above;                                      // query i sees keys up to i + above; no mask: all keys
  int below;                                      // and from i + below on; no window: all keys
  float scale;                                    // applied to the scores
  float cap;                                      // softcap: scores s become cap tanh(s / cap); 0: none
  attention_forward::Mask mask;
  int window;  // 0: none
  Rope rope;
  const int *q_starts, *k_starts;  // [batches + 1], first rows of packed sequences; null: not packed
  int sequence, lse_columns;       // packed: the current sequence, set by select(); the row length of lse

  // Query i sees keys [first_visible(i), visible(i)).
  __device__ int visible(int i) const {
    const int end = i + 1 + above;
    return end < 0 ? 0 : end < keys ? end : keys;
  }
  __device__ int first_visible(int i) const {
    const int first = i + below, end = visible(i);
    return first < 0 ? 0 : first < end ? first : end;
  }
  constexpr bool masked() const { return mask != attention_forward::Mask::none || window != 0; }
  // The position of a query: the last key that it would see under a causal mask.
  __device__ int place(int query) const {
    return query + (mask == attention_forward::Mask::causal_top_left ? 0 : keys - queries);
  }
  constexpr void set_lengths(int all_queries, int all_keys) {
    using Mask = attention_forward::Mask;
    queries = all_queries;
    keys = all_keys;
    const int place = mask == Mask::causal_top_left ? 0 : keys - queries;
    above = mask == Mask::none ? keys : place;
    below = window == 0 ? -queries : place + 1 - window;
  }

  // Packed: selects a sequence.
  __device__ void select(int s) {
    const int query = ld(q_starts + s), key = ld(k_starts + s);
    sequence = s;
    q.data += query * q.seq;
    o.data += query * o.seq;
    k.data += key * k.seq;
    v.data += key * v.seq;
    set_lengths(ld(q_starts + s + 1) - query, ld(k_starts + s + 1) - key);
  }
  // Packed: selects the sequence that holds a tile, tiles of `size` queries being counted over all sequences.  Returns the tile's
  // index in that sequence, or -1 if there is no such tile.
  __device__ int take(int tile, int size) {
    for (int s = 0; s < batches; ++s) {
      const int tiles = (ld(q_starts + s + 1) - ld(q_starts + s) + size - 1) / size;
      if (tile < tiles) {
        select(s);
        return tile;
      }
      tile -= tiles;
    }
    return -1;
  }
  // Where L of a query is written; packed: at the index of its row.
  __device__ float* lse_of(int batch, int head, int query) const {
    if (q_starts == nullptr) return lse.of(batch, head) + query * lse.seq;
    const int row = ld(q_starts + sequence) + query;
    return lse.of(row / lse_columns, head) + row % lse_columns * lse.seq;
  }
};

// The most tiles of `size` queries that a head can have (over all sequences if packed), and the number of such heads.
template <class T>
std::int64_t query_tiles(const Problem<T>& p, int size) {
  const std::int64_t batches = p.batches;
  return p.q_starts ? batches * p.queries / size + batches : ceil_div(p.queries, size);
}
template <class T>
int separate_batches(const Problem<T>& p) {
  return p.q_starts ? 1 : p.batches;
}

inline constexpr std::int64_t kMostExtent = std::int64_t{1} << 29;  // per sequence, since positions and their sums are ints

inline Legality extents_fit(const attention_forward::Args& a) {
  for (const std::int64_t extent : {a.q.shape[0], a.q.shape[1], a.q.shape[2], a.q.shape[3], a.k.shape[1]})
    if (extent > kMostExtent) return Legality::no("an extent exceeds 2^29");
  if (a.packed && a.q.shape[0] * std::max(a.q.shape[1], a.k.shape[1]) > kMostExtent)
    return Legality::no("there are more than 2^29 packed rows");
  return Legality::yes();
}

inline Legality without_rope(const attention_forward::Args& a) {
  return a.rope.rotary(a.q.shape[3]) ? Legality::no("rope is not supported") : Legality::yes();
}
inline Legality not_packed(const attention_forward::Args& a) {
  return a.packed ? Legality::no("packed sequences are not supported") : Legality::yes();
}
// For kernels that support masks but neither window, softcap, packed sequences nor rope.
inline Legality only_masks(const attention_forward::Args& a) {
  if (a.window != 0) return Legality::no("a window is not supported");
  if (a.softcap != 0) return Legality::no("a softcap is not supported");
  const Legality rotated = without_rope(a);
  return rotated ? not_packed(a) : rotated;
}

template <class T>
Heads<T> heads_of(const Tensor& t) {
  return {t.as<std::remove_const_t<T>>(), t.stride[0], t.stride[1], t.stride[2]};
}

template <class T>
Problem<T> problem(const attention_forward::Args& a) {
  Problem<T> p{};
  p.q = heads_of<const T>(a.q);
  p.k = heads_of<const T>(a.k);
  p.v = heads_of<const T>(a.v);
  p.o = heads_of<T>(a.o);
  p.lse = {a.lse.as<float>(), a.lse.stride[0], a.lse.stride[2], a.lse.stride[1]};
  p.batches = static_cast<int>(a.q.shape[0]);
  p.dim = static_cast<int>(a.q.shape[3]);
  p.heads = static_cast<int>(a.q.shape[2]);
  p.group = static_cast<int>(a.q.shape[2] / a.k.shape[2]);
  p.mask = a.mask;
  p.window = static_cast<int>(std::min(a.window, static_cast<double>(kMostExtent)));
  p.set_lengths(static_cast<int>(a.q.shape[1]), static_cast<int>(a.k.shape[1]));
  if (a.packed) {
    p.q_starts = a.cu_seqlens_q.as<int>();
    p.k_starts = a.cu_seqlens_k.as<int>();
  }
  p.lse_columns = p.queries;
  const std::int64_t rotary = a.rope.rotary(a.q.shape[3]);
  p.rope = {static_cast<int>(rotary), static_cast<int>(a.rope.offset), a.rope.pairs == AttentionRope::Pairs::interleaved,
            rotary ? 2 * std::log2(a.rope.base_used()) / static_cast<double>(rotary) : 0};
  p.scale = static_cast<float>(a.scale_used());
  p.cap = static_cast<float>(a.softcap);
  return p;
}

// q k of a query and a key at their positions, rotated by rope.
template <class T, class R>
__device__ float rotated_dot(const R& rope, int dim, const T* q, const T* k, int query_at, int key_at) {
  float s = 0;
  for (int i = 0; i < rope.rotary / 2; ++i) {
    const int one = rope.interleaved ? 2 * i : i, other = rope.interleaved ? 2 * i + 1 : i + rope.rotary / 2;
    const Rotation of_q = rope.rotation(i, query_at), of_k = rope.rotation(i, key_at);
    const Pair a = rotated(of_q, to_float(ld(q + one)), to_float(ld(q + other)));
    const Pair b = rotated(of_k, to_float(ld(k + one)), to_float(ld(k + other)));
    s = fmaf(a.b, b.b, fmaf(a.a, b.a, s));
  }
  for (int c = rope.rotary; c < dim; ++c) s = fmaf(to_float(ld(q + c)), to_float(ld(k + c)), s);
  return s;
}

inline bool nothing_to_do(const attention_forward::Args& a) { return a.q.shape[0] == 0 || a.q.shape[1] == 0; }

}  // namespace assay::ASSAY_FLAVOUR::attention_forward_room
