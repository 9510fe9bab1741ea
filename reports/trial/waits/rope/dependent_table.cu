// SPDX-License-Identifier: Apache-2.0
// SOUND: one launch computes cosines and sines of all tokens and pairs, a dependent one rotates; lane 0 of each warp waits, sync_warp.
#include "cuda/core/kernel.cuh"
#include "ops/rope.hpp"

namespace assay::ROOM(rope, dependent_table) {

inline constexpr int kWarps = 4;

std::size_t scratch(const rope::Args& a) {
  return static_cast<std::size_t>(a.q.shape[0] * a.q.shape[1]) * static_cast<std::size_t>(a.rotary() / 2) * 2 * sizeof(float);
}

KERNEL(rope){
    .dtypes = {f16, bf16, f32},
    .min_arch = 90,
    .numerics = {.accumulate = f32, .function_error = 2, .angle_error = 0x1p-20},
    .workspace_bytes = scratch,
};

using Turn = Vec<float, 2>;

__global__ void angles(const int* positions, std::int64_t positions_stride, const float* frequencies, Turn* table, std::int64_t tokens,
                       std::int64_t seq, int pairs, double log2_base, std::int64_t offset) {
  next_grid_may_start();
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= tokens * pairs) return;
  const std::int64_t token = i / pairs, pair = i % pairs, b = token / seq, s = token % seq;
  const std::int64_t position = offset + (positions ? ld(positions + b * positions_stride + s) : s);
  const double f = frequencies ? static_cast<double>(ld(frequencies + pair)) : exp2(-log2_base * static_cast<double>(pair) / pairs);
  const double angle = static_cast<double>(position) * f;
  st(table + i, Turn{{static_cast<float>(cos(angle)), static_cast<float>(sin(angle))}});
}

struct Heads {
  const void* in;
  void* out;
  std::int64_t in_stride[3], out_stride[3];
  int heads;
};

template <class T>
__global__ void rotate(Heads q, Heads k, const Turn* table, std::int64_t tokens, std::int64_t seq, int pairs, int dim, bool interleaved) {
  const std::int64_t unit = static_cast<std::int64_t>(blockIdx.x) * kWarps + warp_id(), each = q.heads + k.heads;
  if (lane_id() == 0) wait_for_previous_grid();
  sync_warp();
  if (unit >= tokens * each) return;
  const std::int64_t token = unit / each, h = unit % each, b = token / seq, s = token % seq;
  const Heads& x = h < q.heads ? q : k;
  const std::int64_t head = h < q.heads ? h : h - q.heads;
  const T* in = static_cast<const T*>(x.in) + b * x.in_stride[0] + s * x.in_stride[1] + head * x.in_stride[2];
  T* out = static_cast<T*>(x.out) + b * x.out_stride[0] + s * x.out_stride[1] + head * x.out_stride[2];
  for (int p = lane_id(); p < pairs; p += kWarp) {
    const Turn turn = ld(table + token * pairs + p);
    const int first = interleaved ? 2 * p : p, second = interleaved ? 2 * p + 1 : p + pairs;
    const float u = to_float(ld(in + first)), v = to_float(ld(in + second));
    st(out + first, from_float<T>(u * turn[0] - v * turn[1]));
    st(out + second, from_float<T>(u * turn[1] + v * turn[0]));
  }
  for (int d = 2 * pairs + lane_id(); d < dim; d += kWarp) st(out + d, ld(in + d));
}

void run(const rope::Args& a, const Launch& l) {
  const std::int64_t seq = a.q.shape[1], tokens = a.q.shape[0] * seq;
  const int pairs = static_cast<int>(a.rotary() / 2), dim = static_cast<int>(a.q.shape[3]);
  if (tokens == 0) return;
  Turn* table = static_cast<Turn*>(l.workspace);
  const auto all = [](const Tensor& in, const Tensor& out) {
    return Heads{in.data, out.data, {in.stride[0], in.stride[1], in.stride[2]}, {out.stride[0], out.stride[1], out.stride[2]},
                 static_cast<int>(in.shape[2])};
  };
  launch(angles, {.grid = dim3(static_cast<unsigned>(std::max<std::int64_t>(ceil_div(tokens * pairs, 128), 1))), .block = dim3(128)},
         l.stream, a.positions.as<int>(), a.positions.stride[0], a.frequencies.as<float>(), table, tokens, seq, pairs,
         std::log2(a.base_used()), static_cast<std::int64_t>(a.offset));
  const std::int64_t units = tokens * (a.q.shape[2] + a.k.shape[2]);
  with_type(a.q.dtype, [&]<class T>(Type<T>) {
    launch(rotate<T>, {.grid = dim3(static_cast<unsigned>(ceil_div(units, kWarps))), .block = dim3(kWarps * kWarp), .dependent = true},
           l.stream, all(a.q, a.q_out), all(a.k, a.k_out), table, tokens, seq, pairs, dim, a.layout == rope::Layout::interleaved);
  });
}

}  // namespace assay::ROOM(rope, dependent_table)
