// SPDX-License-Identifier: Apache-2.0
// rope as a step of its own: q and k rotated once, into workspace, for kernels that copy their operands by boxes.
#pragma once

#include "cuda/attention_forward/rotated_tile.cuh"

namespace assay::ASSAY_FLAVOUR::attention_forward_room {

inline constexpr int kTurnThreads = 128;

// A block has a row of q or k with all its heads; a thread takes 8 channels at a time.  head_dim is a multiple of 8.
template <class T>
__global__ void __launch_bounds__(kTurnThreads)
    attention_forward_turn_rows(Problem<T> p, Turns turns, T* q_out, T* k_out, int q_rows, int kv_heads) {
  constexpr int kPack = 8;
  using Pack = Vec<T, kPack>;
  const int block = static_cast<int>(blockIdx.x), row = block < q_rows ? block : block - q_rows;
  const bool of_q = block < q_rows;
  const Heads<const T> from = of_q ? p.q : p.k;
  const int seq = of_q ? p.queries : p.keys, batch = p.q_starts ? 0 : row / seq;
  int at = p.q_starts ? row : row % seq, position = at;
  if (p.q_starts != nullptr) {
    int s = 0;
    while (ld((of_q ? p.q_starts : p.k_starts) + s + 1) <= row) ++s;
    position = row - ld((of_q ? p.q_starts : p.k_starts) + s);
    p.set_lengths(ld(p.q_starts + s + 1) - ld(p.q_starts + s), ld(p.k_starts + s + 1) - ld(p.k_starts + s));
  }
  if (of_q) position = p.place(position);
  const Rotation* const by = turns.table + static_cast<std::int64_t>(position - turns.least) * turns.pitch;
  const int heads = of_q ? p.heads : kv_heads, packs = p.dim / kPack, half = p.rope.rotary / 2;
  T* const out = (of_q ? q_out : k_out) + static_cast<std::int64_t>(row) * heads * p.dim;
  for (int i = static_cast<int>(threadIdx.x); i < heads * packs; i += kTurnThreads) {
    const int first = i % packs * kPack;
    const T* const x = from.of(batch, i / packs) + at * from.seq;
    const auto pack_at = [&](int channel) { return ld(reinterpret_cast<const Pack*>(x + channel)); };
    const auto partner = [&](int channel) { return channel < half ? channel + half : channel - half; };
    Pack mine = pack_at(first), other{};
    if (!p.rope.interleaved && first < p.rope.rotary) {
      if (half % kPack == 0) other = pack_at(partner(first));
      else
        for (int j = 0; j < kPack; ++j)
          if (first + j < p.rope.rotary) other[j] = ld(x + partner(first + j));
    }
    Pack y = mine;
#pragma unroll
    for (int j = 0; j < kPack; ++j) {
      const int channel = first + j;
      if (channel >= p.rope.rotary) continue;
      const bool second = p.rope.interleaved ? j % 2 != 0 : channel >= half;
      const float its = to_float(p.rope.interleaved ? mine[j ^ 1] : other[j]), own = to_float(mine[j]);
      const Rotation r = ld(by + (p.rope.interleaved ? channel / 2 : second ? channel - half : channel));
      const Pair turned = rotated(r, second ? its : own, second ? own : its);
      y[j] = from_float<T>(second ? turned.b : turned.a);
    }
    st(reinterpret_cast<Pack*>(out + static_cast<std::int64_t>(i) * kPack), y);
  }
}

// Workspace: the table, then rotated q and k, each at a multiple of 256 bytes.
inline std::size_t whole_pieces(std::size_t bytes) { return (bytes + 255) / 256 * 256; }
inline std::size_t turned_bytes(const attention_forward::Args& a) {
  return whole_pieces(turns_bytes(a)) + whole_pieces(static_cast<std::size_t>(a.q.bytes())) +
         static_cast<std::size_t>(a.k.bytes());
}

// Rotates q and k; returns the arguments with them in place of q and k.
template <class T>
attention_forward::Args turned(const attention_forward::Args& a, const Launch& l) {
  const Problem<T> p = problem<T>(a);
  const Turns turns = make_turns(a, p.rope, l);
  attention_forward::Args b = a;
  unsigned char* const room = static_cast<unsigned char*>(l.workspace) + whole_pieces(turns_bytes(a));
  b.q.data = room;
  b.k.data = room + whole_pieces(static_cast<std::size_t>(a.q.bytes()));
  for (Tensor* t : {&b.q, &b.k}) t->stride = {t->shape[1] * t->shape[2] * t->shape[3], t->shape[2] * t->shape[3], t->shape[3], 1};
  const std::int64_t q_rows = a.q.shape[0] * a.q.shape[1], k_rows = a.k.shape[0] * a.k.shape[1];
  launch(attention_forward_turn_rows<T>, {.grid = dim3(static_cast<unsigned>(q_rows + k_rows)), .block = dim3(kTurnThreads)},
         l.stream, p, turns, b.q.as<T>(), b.k.as<T>(), static_cast<int>(q_rows), static_cast<int>(a.k.shape[2]));
  return b;
}

}  // namespace assay::ASSAY_FLAVOUR::attention_forward_room
