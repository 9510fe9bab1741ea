// SPDX-License-Identifier: Apache-2.0
// N pairs of channels as two packs of up to 16 bytes: N first channels and their N partners, or, if interleaved, 2N neighbours.
#pragma once

#include "cuda/rope/problem.cuh"

namespace assay::ASSAY_FLAVOUR::rope_room {

// Pack number `at` of a row; the rotated channels are `half / N` packs.
template <class T, int N>
struct PairPacks {
  Vec<T, N> low, high;
  __device__ static int low_channel(const Problem<T>& p, int at) { return p.interleaved ? 2 * N * at : N * at; }
  __device__ static int high_channel(const Problem<T>& p, int at) { return low_channel(p, at) + (p.interleaved ? N : p.half); }
  __device__ void load(const Problem<T>& p, const T* x, int at) {
    low = ld(reinterpret_cast<const Vec<T, N>*>(x + low_channel(p, at)));
    high = ld(reinterpret_cast<const Vec<T, N>*>(x + high_channel(p, at)));
  }
  // rotation(j): the rotation of pair number N * at + j.
  template <class RotationOf>
  __device__ void rotate_and_store(const Problem<T>& p, T* y, int at, RotationOf&& rotation) const {
    float a[N], b[N];
    if (p.interleaved) {
      interleave(a, b, rotation);
    } else {
#pragma unroll
      for (int j = 0; j < N; ++j) {
        const Pair v = rotated(rotation(j), to_float(low[j]), to_float(high[j]));
        a[j] = v.a;
        b[j] = v.b;
      }
    }
    st(reinterpret_cast<Vec<T, N>*>(y + low_channel(p, at)), from_floats<T>(a));
    st(reinterpret_cast<Vec<T, N>*>(y + high_channel(p, at)), from_floats<T>(b));
  }

 private:
  // Interleaved: adjacent channels form a pair.  Half: element j of both packs forms a pair.
  template <class RotationOf>
  __device__ void interleave(float (&a)[N], float (&b)[N], RotationOf&& rotation) const {
    if constexpr (N == 1) {
      const Pair v = rotated(rotation(0), to_float(low[0]), to_float(high[0]));
      a[0] = v.a;
      b[0] = v.b;
    } else {
#pragma unroll
      for (int j = 0; j < N; j += 2) {
        const Pair v = rotated(rotation(j / 2), to_float(low[j]), to_float(low[j + 1]));
        const Pair w = rotated(rotation(N / 2 + j / 2), to_float(high[j]), to_float(high[j + 1]));
        a[j] = v.a;
        a[j + 1] = v.b;
        b[j] = w.a;
        b[j + 1] = w.b;
      }
    }
  }
};

// Calls f(integral_constant N) with the widest packs that divide the pairs and the head and to which all rows are aligned.
template <class T, class F>
void with_pack_width(const rope::Args& a, F&& f) {
  const std::int64_t half = a.rotary() / 2, dim = a.q.shape[3];
  const auto fits = [&](int n) {
    const std::int64_t bytes = n * static_cast<std::int64_t>(sizeof(T));
    return half % n == 0 && dim % n == 0 && a.q.rows_aligned(bytes) && a.k.rows_aligned(bytes) && a.q_out.rows_aligned(bytes) &&
           a.k_out.rows_aligned(bytes);
  };
  if constexpr (sizeof(T) == 2)
    if (fits(8)) return f(std::integral_constant<int, 8>{});
  if (fits(4)) return f(std::integral_constant<int, 4>{});
  if (fits(2)) return f(std::integral_constant<int, 2>{});
  f(std::integral_constant<int, 1>{});
}

}  // namespace assay::ASSAY_FLAVOUR::rope_room
