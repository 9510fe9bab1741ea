// SPDX-License-Identifier: Apache-2.0
// rope: a table of cosines and sines for every position, and tiles of q and k that are rotated in shared memory by the warp that
// loaded them.
#pragma once

#include "cuda/attention_forward/problem.cuh"
#include "cuda/core/head_tile.cuh"

namespace assay::ASSAY_FLAVOUR::attention_forward_room {

// Rotations of positions least, least + 1, ..., `pitch` per position: rotary / 2, padded by up to 3 so that rows stay aligned.
struct Turns {
  const Rotation* table;
  int least, pitch;
};

// The range of positions of keys and queries: [least, end).  Packed: any sequence may have all rows.
struct Places {
  std::int64_t least, end;
};
inline Places places(const attention_forward::Args& a) {
  const std::int64_t all = a.packed ? a.q.shape[0] : 1, queries = all * a.q.shape[1], keys = all * a.k.shape[1];
  if (a.mask == attention_forward::Mask::causal_top_left) return {0, std::max(queries, keys)};
  return {a.packed ? -queries : std::min<std::int64_t>(0, keys - queries), keys};
}
inline int turns_pitch(std::int64_t rotary) { return static_cast<int>(ceil_div(rotary / 2, 4) * 4); }
inline std::size_t turns_bytes(const attention_forward::Args& a) {
  const Places p = places(a);
  return static_cast<std::size_t>((p.end - p.least) * turns_pitch(a.rope.rotary(a.q.shape[3]))) * sizeof(Rotation);
}

inline constexpr int kTableThreads = 128;

__global__ inline void __launch_bounds__(kTableThreads)
    attention_forward_rotation_table(Rotation* table, Rope rope, int least, int pitch, std::int64_t turns) {
  const std::int64_t at = static_cast<std::int64_t>(blockIdx.x) * kTableThreads + threadIdx.x;
  if (at >= turns) return;
  const int i = static_cast<int>(at % pitch), position = least + static_cast<int>(at / pitch);
  st(table + at, i < rope.rotary / 2 ? rope.rotation(i, position) : Rotation{1, 0});
}

// Fills the table, in workspace of turns_bytes().
inline Turns make_turns(const attention_forward::Args& a, const Rope& rope, const Launch& l) {
  const Places p = places(a);
  const int pitch = turns_pitch(rope.rotary), least = static_cast<int>(p.least);
  const std::int64_t turns = (p.end - p.least) * pitch;
  Rotation* const table = static_cast<Rotation*>(l.workspace);
  if (turns > 0)
    launch(attention_forward_rotation_table, {.grid = dim3(ceil_div(turns, kTableThreads)), .block = dim3(kTableThreads)},
           l.stream, table, rope, least, pitch, turns);
  return {table, least, pitch};
}

// Rotates rows [first, first + kRows) of a tile that Loader<T, kDim, kThreads> has loaded; rows from `rows` on are left.
// `place`: the position of row 0 of the sequence.  A lane takes every 32nd unit of its warp's rows.  A unit is the 4 pairs of
// a chunk if interleaved; else the 8 pairs of two chunks, or one pair if rotary / 2 is no multiple of 8.
template <class T, int kDim, int kThreads>
struct TileRotator {
  using Load = head_tile::Loader<T, kDim, kThreads>;
  using Tile = typename Load::Tile;
  using Chunk = Vec<T, head_tile::kChunk>;
  using Two = Vec<float, 4>;  // two rotations
  static constexpr int kChunk = head_tile::kChunk, kWarpRows = kWarp / Load::kLanes;
  Turns turns;
  int half;  // rotated pairs
  bool interleaved;

  template <int kRows>
  __device__ void rotate(T* tile, int first, int rows, int place) const {
    const bool whole = half % kChunk == 0;
    const int units = interleaved ? (half + 3) / 4 : whole ? half / kChunk : half;  // per row
    const int lane = head_tile::fresh(lane_id()), warp = head_tile::fresh(warp_id());
    int n = lane / units, unit = lane % units;
    const int rows_on = kWarp / units, units_on = kWarp % units;
#pragma unroll 1
    while (n < kRows / (kThreads / kWarp)) {
      const int row = n / kWarpRows * Load::kRowsApart + warp * kWarpRows + n % kWarpRows;
      if (first + row < rows) {
        const Rotation* const by = turns.table + static_cast<std::int64_t>(place + first + row - turns.least) * turns.pitch;
        if (interleaved) turn_neighbours(tile, row, unit, by + unit * 4);
        else if (whole)
          turn_chunks(tile + Tile::place(row, unit), tile + Tile::place(row, unit + half / kChunk), by + unit * kChunk);
        else turn_pair(element(tile, row, unit), element(tile, row, unit + half), ld(by + unit));
      }
      n += rows_on;
      unit += units_on;
      if (unit >= units) {
        unit -= units;
        ++n;
      }
    }
  }

 private:
  __device__ static T* element(T* tile, int row, int channel) {
    return tile + Tile::place(row, channel / kChunk) + channel % kChunk;
  }
  __device__ static void turn_pair(T* one, T* other, const Rotation& by) {
    const Pair p = rotated(by, to_float(ld(one)), to_float(ld(other)));
    st(one, from_float<T>(p.a));
    st(other, from_float<T>(p.b));
  }
  __device__ static void turn_chunks(T* one, T* other, const Rotation* by) {
    Chunk a = ld(reinterpret_cast<const Chunk*>(one)), b = ld(reinterpret_cast<const Chunk*>(other));
#pragma unroll
    for (int j = 0; j < kChunk; j += 2) {
      const Two t = ld(reinterpret_cast<const Two*>(by + j));
#pragma unroll
      for (int e = 0; e < 2; ++e) {
        const Pair p = rotated({t[2 * e], t[2 * e + 1]}, to_float(a[j + e]), to_float(b[j + e]));
        a[j + e] = from_float<T>(p.a);
        b[j + e] = from_float<T>(p.b);
      }
    }
    st(reinterpret_cast<Chunk*>(one), a);
    st(reinterpret_cast<Chunk*>(other), b);
  }
  __device__ void turn_neighbours(T* tile, int row, int chunk, const Rotation* by) const {
    Chunk* const at = reinterpret_cast<Chunk*>(tile + Tile::place(row, chunk));
    Chunk x = ld(at);
#pragma unroll
    for (int j = 0; j < kChunk / 2; j += 2) {
      const Two t = ld(reinterpret_cast<const Two*>(by + j));
#pragma unroll
      for (int e = 0; e < 2; ++e) {
        const int i = 2 * (j + e);
        const Pair p = rotated({t[2 * e], t[2 * e + 1]}, to_float(x[i]), to_float(x[i + 1]));
        if (chunk * 4 + j + e < half) {
          x[i] = from_float<T>(p.a);
          x[i + 1] = from_float<T>(p.b);
        }
      }
    }
    st(at, x);
  }
};

}  // namespace assay::ASSAY_FLAVOUR::attention_forward_room
