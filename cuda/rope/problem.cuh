// SPDX-License-Identifier: Apache-2.0
// Shared by the kernels of this room: the tensors with their strides, the channels of a pair, rotations (rotation.cuh).
#pragma once

#include "cuda/core/rotation.cuh"
#include "ops/rope.hpp"

namespace assay::ASSAY_FLAVOUR::rope_room {

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
  double step;               // the frequency of pair i is 2^(-i step),
  const float* frequencies;  // or its element of this table, if there is one

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
  __device__ double angle(int i, std::int64_t position) const {
    return frequencies != nullptr ? angle_of(ld(frequencies + i), position) : angle_of(step, i, position);
  }
  // The same in f32; from step: see f32_angles.cu.
  __device__ float narrow_angle(float narrow_step, int i, std::int64_t position) const {
    const float f = frequencies != nullptr ? ld(frequencies + i) : exp2f(-narrow_step * static_cast<float>(i));
    return static_cast<float>(position) * f;
  }
  // The channels of pair i.
  __device__ int first(int i) const { return interleaved ? 2 * i : i; }
  __device__ int second(int i) const { return interleaved ? 2 * i + 1 : i + half; }
};

template <class T>
Side<T> side_of(const Tensor& x, const Tensor& y) {
  return {x.as<T>(),   y.as<T>(),   x.stride[0],
          x.stride[1], x.stride[2], y.stride[0],
          y.stride[1], y.stride[2], static_cast<int>(x.shape[2])};
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
          .step = rotary ? 2 * std::log2(a.base_used()) / rotary : 0,
          .frequencies = a.frequencies.as<float>()};
}

}  // namespace assay::ASSAY_FLAVOUR::rope_room
