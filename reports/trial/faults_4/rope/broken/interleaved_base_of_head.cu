// SPDX-License-Identifier: Apache-2.0
// FAULT: takes the exponent of the base from head_dim instead of rotary_dim for interleaved pairs. Visible with
// layout_of_pairs=interleaved and a rotary_dim below head_dim.
// KIND: combinations
#include "cuda/core/rotation.cuh"
#include "ops/rope.hpp"

namespace assay::ROOM(rope, interleaved_base_of_head) {

// A tensor [batch, seq, heads, head_dim] and its output, which may be the same memory.
template <class T>
struct Side {
  const T* x;
  T* y;
  std::int64_t x_batch, x_token, x_head, y_batch, y_token, y_head;  // strides
  int heads;
};

template <class T>
struct Problem {
  Side<T> q, k;
  const std::int32_t* positions;  // [batch, seq], or null
  std::int64_t positions_batch, offset;
  std::int64_t tokens, seq;
  int dim, rotary, half;  // half: number of pairs
  bool interleaved;
  double step;  // the frequency of pair i is 2^(-i step)

  // A row of q, or of k if its head index is at least q.heads.
  struct Row {
    const T* x;
    T* y;
  };
  __device__ Row row(std::int64_t token, int head) const {
    const std::int64_t b = token / seq, s = token - b * seq;
    const Side<T>& side = head < q.heads ? q : k;
    const int h = head < q.heads ? head : head - q.heads;
    return {side.x + b * side.x_batch + s * side.x_token + h * side.x_head,
            side.y + b * side.y_batch + s * side.y_token + h * side.y_head};
  }
  __device__ int heads() const { return q.heads + k.heads; }
  __device__ std::int64_t position(std::int64_t token) const {
    const std::int64_t b = token / seq, s = token - b * seq;
    return offset + (positions != nullptr ? ld(positions + b * positions_batch + s) : s);
  }
  // The channels of pair i.
  __device__ int first(int i) const { return interleaved ? 2 * i : i; }
  __device__ int second(int i) const { return interleaved ? 2 * i + 1 : i + half; }
};

template <class T>
Side<T> side_of(const Tensor& x, const Tensor& y) {
  return {x.as<T>(),   y.as<T>(),   x.stride[0], x.stride[1],
          x.stride[2], y.stride[0], y.stride[1], y.stride[2], static_cast<int>(x.shape[2])};
}

template <class T>
Problem<T> problem_of(const rope::Args& a) {
  const int rotary = static_cast<int>(a.rotary());
  return {.q = side_of<T>(a.q, a.q_out),
          .k = side_of<T>(a.k, a.k_out),
          .positions = a.positions.as<std::int32_t>(),
          .positions_batch = a.positions.stride[0],
          .offset = static_cast<std::int64_t>(a.offset),
          .tokens = a.q.shape[0] * a.q.shape[1],
          .seq = a.q.shape[1],
          .dim = static_cast<int>(a.q.shape[3]),
          .rotary = rotary,
          .half = rotary / 2,
          .interleaved = a.layout == rope::Layout::interleaved,
          .step = rotary ? 2 * std::log2(a.base_used()) / (a.layout == rope::Layout::interleaved ? a.q.shape[3] : rotary) : 0};
}

inline constexpr int kPairs = 32, kHeads = 4;

KERNEL(rope){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::head_dim, kPairs), tile(Axis::heads, kHeads)},
    .numerics = {.accumulate = f32, .angle_error = kAngleError, .reduced_angle_error = kReducedAngleError},
};

template <class T>
__global__ void rope_naive(Problem<T> p) {
  const std::int64_t token = blockIdx.x;
  for (int head = static_cast<int>(threadIdx.y); head < p.heads(); head += kHeads) {
    const auto row = p.row(token, head);
    for (int i = static_cast<int>(threadIdx.x); i < p.half; i += kPairs) {
      const Rotation rotation = rotation_by(angle_of(p.step, i, p.position(token)));
      const Pair v = rotated(rotation, to_float(ld(row.x + p.first(i))), to_float(ld(row.x + p.second(i))));
      st(row.y + p.first(i), from_float<T>(v.a));
      st(row.y + p.second(i), from_float<T>(v.b));
    }
    for (int d = p.rotary + static_cast<int>(threadIdx.x); d < p.dim; d += kPairs) st(row.y + d, ld(row.x + d));
  }
}

void run(const rope::Args& a, const Launch& l) {
  const std::int64_t tokens = a.q.shape[0] * a.q.shape[1];
  if (tokens == 0) return;
  with_type(a.q.dtype, [&]<class T>(Type<T>) {
    launch(rope_naive<T>, {.grid = dim3(tokens), .block = dim3(kPairs, kHeads)}, l.stream, problem_of<T>(a));
  });
}

}  // namespace assay::ROOM(rope, interleaved_base_of_head)
