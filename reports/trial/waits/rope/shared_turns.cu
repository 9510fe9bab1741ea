// SPDX-License-Identifier: Apache-2.0
// SOUND: a block for four tokens; its threads put cosines and sines of all pairs into shared memory, then rotate every head.
#include "cuda/core/kernel.cuh"
#include "ops/rope.hpp"

namespace assay::ROOM(rope, shared_turns) {

inline constexpr int kThreads = 128, kTokens = 4, kMostPairs = 512;

Legality takes(const rope::Args& a) {
  return a.rotary() / 2 <= kMostPairs ? Legality::yes() : Legality::no("the turns do not fit into shared memory");
}

KERNEL(rope){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::seq_q, kTokens)},
    .numerics = {.accumulate = f32, .angle_error = 0x1p-20, .reduced_angle_error = 2},
    .supports = takes,
};

template <class T>
struct View {
  const T* in;
  T* out;
  std::int64_t in_stride[3], out_stride[3];
  int heads;
};

template <class T>
View<T> view(const Tensor& in, const Tensor& out) {
  return {in.as<T>(), out.as<T>(), {in.stride[0], in.stride[1], in.stride[2]}, {out.stride[0], out.stride[1], out.stride[2]},
          static_cast<int>(in.shape[2])};
}

template <class T>
__device__ void rotate_all(const View<T>& x, const float* turns, std::int64_t token0, std::int64_t tokens, std::int64_t seq, int pairs,
                           int dim, bool interleaved) {
  const int halves = dim - pairs;  // units of a head: its pairs, then the channels that are copied
  const int each = x.heads * halves;
  for (int i = static_cast<int>(threadIdx.x); i < kTokens * each; i += kThreads) {
    const std::int64_t token = token0 + i / each;
    if (token >= tokens) break;
    const int h = i % each / halves, p = i % halves;
    const T* in = x.in + token / seq * x.in_stride[0] + token % seq * x.in_stride[1] + h * x.in_stride[2];
    T* out = x.out + token / seq * x.out_stride[0] + token % seq * x.out_stride[1] + h * x.out_stride[2];
    if (p >= pairs) {
      st(out + p + pairs, ld(in + p + pairs));
      continue;
    }
    const Vec<float, 2> turn = ld(reinterpret_cast<const Vec<float, 2>*>(turns) + i / each * pairs + p);
    const int first = interleaved ? 2 * p : p, second = interleaved ? 2 * p + 1 : p + pairs;
    const float u = to_float(ld(in + first)), v = to_float(ld(in + second));
    st(out + first, from_float<T>(fmaf(u, turn[0], -(v * turn[1]))));
    st(out + second, from_float<T>(fmaf(v, turn[0], u * turn[1])));
  }
}

template <class T>
__global__ void shared_turns(View<T> q, View<T> k, const int* positions, std::int64_t positions_stride, const float* frequencies,
                             std::int64_t tokens, std::int64_t seq, int pairs, int dim, double log2_base, std::int64_t offset,
                             bool interleaved) {
  float* turns = shared_memory<float>();
  const std::int64_t token0 = static_cast<std::int64_t>(blockIdx.x) * kTokens;
  for (int i = static_cast<int>(threadIdx.x); i < kTokens * pairs; i += kThreads) {
    const std::int64_t token = std::min(token0 + i / pairs, tokens - 1);
    const int p = i % pairs;
    const std::int64_t position = offset + (positions ? ld(positions + token / seq * positions_stride + token % seq) : token % seq);
    const double f = frequencies != nullptr ? static_cast<double>(ld(frequencies + p)) : exp2(-p * (log2_base / pairs));
    const double angle = static_cast<double>(position) * f;
    const auto rest = static_cast<float>(angle - 6.283185307179586 * rint(angle / 6.283185307179586));
    st(turns + 2 * i, cosf(rest));
    st(turns + 2 * i + 1, sinf(rest));
  }
  sync_block();
  rotate_all(q, turns, token0, tokens, seq, pairs, dim, interleaved);
  rotate_all(k, turns, token0, tokens, seq, pairs, dim, interleaved);
}

void run(const rope::Args& a, const Launch& l) {
  const std::int64_t seq = a.q.shape[1], tokens = a.q.shape[0] * seq;
  if (tokens == 0) return;
  const int pairs = static_cast<int>(a.rotary() / 2), dim = static_cast<int>(a.q.shape[3]);
  with_type(a.q.dtype, [&]<class T>(Type<T>) {
    launch(shared_turns<T>,
           {.grid = dim3(static_cast<unsigned>(ceil_div(tokens, kTokens))),
            .block = dim3(kThreads),
            .shared_bytes = static_cast<std::size_t>(kTokens * pairs) * 2 * sizeof(float)},
           l.stream, view<T>(a.q, a.q_out), view<T>(a.k, a.k_out), a.positions.as<int>(), a.positions.stride[0],
           a.frequencies.as<float>(), tokens, seq, pairs, dim, std::log2(a.base_used()), static_cast<std::int64_t>(a.offset),
           a.layout == rope::Layout::interleaved);
  });
}

}  // namespace assay::ROOM(rope, shared_turns)
