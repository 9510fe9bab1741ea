// SPDX-License-Identifier: Apache-2.0
// What every attention kernel is handed: where the tensors are, and which keys a query sees.
#pragma once

#include "cuda/core/kernel.cuh"
#include "ops/attention_forward.hpp"

namespace assay::ASSAY_FLAVOUR::attention_forward_room {

// A [batch, seq, heads, head_dim] tensor; strides in elements, channels one after the other.
template <class T>
struct Heads {
  T* data;
  std::int64_t batch, seq, head;
  __device__ T* of(int b, int h) const { return data + b * batch + h * head; }
};

template <class T>
struct Problem {
  Heads<const T> q, k, v;
  Heads<T> o;
  Heads<float> lse;  // [batch, heads, seq_q]
  int batches, queries, keys, heads, group, dim;  // group: query heads that share a key/value head
  int above;    // query i sees the keys up to i + above; no mask: all of them
  int below;    // and those from i + below on; no window: all of them
  float scale;  // of the scores
  float cap;    // scores s become cap tanh(s / cap); 0: they stay

  // Query i sees keys [first_visible(i), visible(i)).
  __device__ int visible(int i) const {
    const int end = i + 1 + above;
    return end < 0 ? 0 : end < keys ? end : keys;
  }
  __device__ int first_visible(int i) const {
    const int first = i + below, end = visible(i);
    return first < 0 ? 0 : first < end ? first : end;
  }
};

inline constexpr std::int64_t kMostExtent = std::int64_t{1} << 29;  // of a sequence: positions and their sums are ints

inline Legality extents_fit(const attention_forward::Args& a) {
  for (const std::int64_t extent : {a.q.shape[0], a.q.shape[1], a.q.shape[2], a.q.shape[3], a.k.shape[1]})
    if (extent > kMostExtent) return Legality::no("an extent exceeds 2^29");
  return Legality::yes();
}

// For kernels that have neither.
inline Legality no_window_no_softcap(const attention_forward::Args& a) {
  if (a.window != 0) return Legality::no("a window is not supported");
  if (a.softcap != 0) return Legality::no("a softcap is not supported");
  return Legality::yes();
}

template <class T>
Heads<T> heads_of(const Tensor& t) {
  return {t.as<std::remove_const_t<T>>(), t.stride[0], t.stride[1], t.stride[2]};
}

template <class T>
Problem<T> problem(const attention_forward::Args& a) {
  using Mask = attention_forward::Mask;
  Problem<T> p{};
  p.q = heads_of<const T>(a.q), p.k = heads_of<const T>(a.k), p.v = heads_of<const T>(a.v), p.o = heads_of<T>(a.o);
  p.lse = {a.lse.as<float>(), a.lse.stride[0], a.lse.stride[2], a.lse.stride[1]};
  p.batches = static_cast<int>(a.q.shape[0]), p.queries = static_cast<int>(a.q.shape[1]), p.keys = static_cast<int>(a.k.shape[1]);
  p.heads = static_cast<int>(a.q.shape[2]), p.group = static_cast<int>(a.q.shape[2] / a.k.shape[2]);
  p.dim = static_cast<int>(a.q.shape[3]);
  p.above = a.mask == Mask::none ? p.keys : a.mask == Mask::causal ? p.keys - p.queries : 0;
  const int place = a.mask == Mask::causal_top_left ? 0 : p.keys - p.queries;
  p.below = a.window == 0 ? -p.queries : place + 1 - static_cast<int>(std::min(a.window, static_cast<double>(kMostExtent)));
  p.scale = static_cast<float>(a.scale_used());
  p.cap = static_cast<float>(a.softcap);
  return p;
}

inline bool nothing_to_do(const attention_forward::Args& a) { return a.q.shape[0] == 0 || a.q.shape[1] == 0; }

}  // namespace assay::ASSAY_FLAVOUR::attention_forward_room
