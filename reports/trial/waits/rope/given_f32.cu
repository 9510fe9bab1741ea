// SPDX-License-Identifier: Apache-2.0
// SOUND: only for given frequencies: a warp for each head of a token, angles as one product in f32, which it declares.
#include "cuda/core/kernel.cuh"
#include "ops/rope.hpp"

namespace assay::ROOM(rope, given_f32) {

inline constexpr int kWarps = 8;

Legality takes(const rope::Args& a) {
  return a.given_frequencies ? Legality::yes() : Legality::no("frequencies by base are another kernel's");
}

KERNEL(rope){
    .dtypes = {f16, bf16, f32},
    .numerics = {.accumulate = f32, .angle_error = 1},
    .supports = takes,
};

template <class T>
__global__ void given_f32(const T* in, T* out, const int* positions, const float* frequencies, std::int64_t units, std::int64_t seq,
                          std::int64_t heads, int pairs, int dim, std::int64_t offset, bool interleaved, std::int64_t positions_stride,
                          std::int64_t in_batch, std::int64_t in_token, std::int64_t in_head, std::int64_t out_batch,
                          std::int64_t out_token, std::int64_t out_head) {
  const std::int64_t unit = static_cast<std::int64_t>(blockIdx.x) * kWarps + warp_id();
  if (unit >= units) return;
  const std::int64_t h = unit % heads, s = unit / heads % seq, b = unit / heads / seq;
  in += b * in_batch + s * in_token + h * in_head;
  out += b * out_batch + s * out_token + h * out_head;
  const auto position = static_cast<float>(offset + (positions ? ld(positions + b * positions_stride + s) : s));
  for (int p = lane_id(); p < pairs; p += kWarp) {
    const float angle = position * ld(frequencies + p);
    const float c = cosf(angle), n = sinf(angle);
    const int first = interleaved ? 2 * p : p, second = first + (interleaved ? 1 : pairs);
    const float u = to_float(ld(in + first)), v = to_float(ld(in + second));
    st(out + first, from_float<T>(u * c - v * n));
    st(out + second, from_float<T>(v * c + u * n));
  }
  for (int d = 2 * pairs + lane_id(); d < dim; d += kWarp) st(out + d, ld(in + d));
}

void run(const rope::Args& a, const Launch& l) {
  const std::int64_t seq = a.q.shape[1], tokens = a.q.shape[0] * seq;
  if (tokens == 0) return;
  with_type(a.q.dtype, [&]<class T>(Type<T>) {
    const auto of = [&](const Tensor& x, const Tensor& y) {
      const std::int64_t units = tokens * x.shape[2];
      launch(given_f32<T>, {.grid = dim3(static_cast<unsigned>(ceil_div(units, kWarps))), .block = dim3(kWarps * kWarp)}, l.stream,
             x.as<T>(), y.as<T>(), a.positions.as<int>(), a.frequencies.as<float>(), units, seq, x.shape[2],
             static_cast<int>(a.rotary() / 2), static_cast<int>(x.shape[3]), static_cast<std::int64_t>(a.offset),
             a.layout == rope::Layout::interleaved, a.positions.stride[0], x.stride[0], x.stride[1], x.stride[2], y.stride[0],
             y.stride[1], y.stride[2]);
    };
    of(a.q, a.q_out);
    of(a.k, a.k_out);
  });
}

}  // namespace assay::ROOM(rope, given_f32)
