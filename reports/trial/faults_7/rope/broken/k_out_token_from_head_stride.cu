// SPDX-License-Identifier: Apache-2.0
// FAULT: The distance of two tokens of k_out is taken as kv_heads times the stride of a head. Tokens with gaps between them in
// k_out are written to the wrong place.
// Kind: layout
#include "cuda/core/kernel.cuh"
#include "cuda/core/rotation.cuh"
#include "ops/rope.hpp"

namespace assay::ROOM(rope, k_out_token_from_head_stride) {

KERNEL(rope){
    .dtypes = {f16, bf16, f32},
    .numerics = {.accumulate = f32, .chain = {.lanes = 1}, .angle_error = kAngleError, .reduced_angle_error = kReducedAngleError},
};

template <class T>
struct Place {
  const T* x;
  T* y;
  std::int64_t x_batch, x_token, x_head, y_batch, y_token, y_head;
};

template <class T>
__global__ void rope_block_a_head(Place<T> t, const std::int32_t* positions, std::int64_t positions_stride, std::int64_t offset, int seq, int heads,
                                  int dim, int rotary, double step, bool interleaved) {
  const int head = static_cast<int>(blockIdx.x % heads), s = static_cast<int>(blockIdx.x / heads % seq);
  const std::int64_t b = blockIdx.x / heads / seq;
  const T* const x = t.x + b * t.x_batch + s * t.x_token + head * t.x_head;
  T* const y = t.y + b * t.y_batch + s * t.y_token + head * t.y_head;
  const std::int64_t position = offset + (positions ? ld(positions + b * positions_stride + s) : s);
  for (int i = static_cast<int>(threadIdx.x); i < rotary / 2; i += kWarp) {
    const int one = interleaved ? 2 * i : i, other = interleaved ? 2 * i + 1 : i + rotary / 2;
    const Pair v = rotated(rotation_by(angle_of(step, i, position)), to_float(ld(x + one)), to_float(ld(x + other)));
    st(y + one, from_float<T>(v.a));
    st(y + other, from_float<T>(v.b));
  }
  for (int c = rotary + static_cast<int>(threadIdx.x); c < dim; c += kWarp) st(y + c, ld(x + c));
}

void run(const rope::Args& a, const Launch& l) {
  const std::int64_t tokens = a.q.shape[0] * a.q.shape[1], rotary = a.rotary();
  if (tokens == 0) return;
  const double step = rotary ? 2 * std::log2(a.base_used()) / static_cast<double>(rotary) : 0;
  with_type(a.q.dtype, [&]<class T>(Type<T>) {
    const auto turn = [&](const Tensor& x, const Tensor& y, std::int64_t y_token) {
      launch(rope_block_a_head<T>, {.grid = dim3(tokens * x.shape[2]), .block = dim3(kWarp)}, l.stream,
             Place<T>{x.as<T>(), y.as<T>(), x.stride[0], x.stride[1], x.stride[2], y.stride[0], y_token, y.stride[2]},
             a.positions.as<std::int32_t>(), a.positions.stride[0], static_cast<std::int64_t>(a.offset), x.shape[1], x.shape[2], x.shape[3],
             rotary, step, a.layout == rope::Layout::interleaved);
    };
    turn(a.q, a.q_out, a.q_out.stride[1]);
    turn(a.k, a.k_out, a.k_out.shape[2] == 1 ? a.k_out.stride[1] : a.k_out.shape[2] * a.k_out.stride[2]);
  });
}

}  // namespace assay::ROOM(rope, k_out_token_from_head_stride)
