// SPDX-License-Identifier: Apache-2.0
// FAULT: The interleaved branch derives its frequencies from head_dim in place of rotary_dim. It shows with interleaved pairs
// and a rotary_dim below head_dim.
// Kind: combinations
#include "cuda/core/kernel.cuh"
#include "cuda/core/rotation.cuh"
#include "ops/rope.hpp"

namespace assay::ROOM(rope, partial_interleaved_steps_by_head) {

KERNEL(rope){
    .dtypes = {f16, bf16, f32},
    .numerics = {.accumulate = f32, .chain = {.lanes = 1}, .angle_error = kAngleError, .reduced_angle_error = kReducedAngleError},
};

// A thread has one pair or one copied channel of a head and token.
template <class T>
__global__ void rope_a_pair_a_thread(const T* x, T* y, const std::int32_t* positions, std::int64_t positions_stride, std::int64_t offset, std::int64_t seq,
                                     std::int64_t heads, std::int64_t units, std::int64_t all, int rotary, double base, bool interleaved, Vec<std::int64_t, 2> batch,
                                     Vec<std::int64_t, 2> token, Vec<std::int64_t, 2> head) {
  const std::int64_t at = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (at >= all) return;
  const std::int64_t u = at % units, h = at / units % heads, s = at / units / heads % seq, b = at / units / heads / seq;
  x += b * batch[0] + s * token[0] + h * head[0], y += b * batch[1] + s * token[1] + h * head[1];
  const int half = rotary / 2;
  if (u >= half) {
    st(y + u + half, ld(x + u + half));
    return;
  }
  const std::int64_t position = offset + (positions ? ld(positions + b * positions_stride + s) : s);
  const int width = interleaved ? static_cast<int>(units + half) : rotary;
  const int i = static_cast<int>(u), one = interleaved ? 2 * i : i, other = interleaved ? one + 1 : i + half;
  const Pair v = rotated(rotation_by(angle_of(2 * log2(base) / (width / 2 * 2), i, position)), to_float(ld(x + one)), to_float(ld(x + other)));
  st(y + one, from_float<T>(v.a));
  st(y + other, from_float<T>(v.b));
}

void run(const rope::Args& a, const Launch& l) {
  const std::int64_t tokens = a.q.shape[0] * a.q.shape[1], rotary = a.rotary(), units = a.q.shape[3] - rotary / 2;
  if (tokens == 0 || units == 0) return;
  with_type(a.q.dtype, [&]<class T>(Type<T>) {
    const auto turn = [&](const Tensor& x, const Tensor& y) {
      const std::int64_t all = tokens * x.shape[2] * units;
      launch(rope_a_pair_a_thread<T>, {.grid = dim3(ceil_div(all, 128)), .block = dim3(128)}, l.stream, x.as<T>(), y.as<T>(),
             a.positions.as<std::int32_t>(), a.positions.stride[0], static_cast<std::int64_t>(a.offset), x.shape[1], x.shape[2], units, all,
             rotary, a.base_used(), a.layout == rope::Layout::interleaved, Vec<std::int64_t, 2>{{x.stride[0], y.stride[0]}},
             Vec<std::int64_t, 2>{{x.stride[1], y.stride[1]}}, Vec<std::int64_t, 2>{{x.stride[2], y.stride[2]}});
    };
    turn(a.q, a.q_out);
    turn(a.k, a.k_out);
  });
}

}  // namespace assay::ROOM(rope, partial_interleaved_steps_by_head)
