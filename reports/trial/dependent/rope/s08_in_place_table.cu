// SPDX-License-Identifier: Apache-2.0
// SOUND: table, q, k, in place where asked; both rotations wait first and trigger early
#include "../dl.cuh"
#include "ops/rope.hpp"

namespace assay::ROOM(rope, s08_in_place_table) {
using namespace dl;

std::size_t workspace_bytes(const rope::Args& a) { return static_cast<std::size_t>(4 * (a.q.shape[0] * a.q.shape[1] * a.q.shape[3] + 1)); }

Legality by_base(const rope::Args& a) { return a.given_frequencies ? Legality::no("takes no table of frequencies") : Legality::yes(); }

KERNEL(rope){.dtypes = {f16, bf16, f32}, .min_arch = 90, .numerics = {.function_error = 2, .angle_error = 0x1p-20f}, .supports = by_base, .workspace_bytes = workspace_bytes};

__global__ void table(const int* positions, float* cs, i64 tokens, i64 seq, i64 ps, i64 pairs, double base, double offset) {
  const i64 i = flat();
  if (i >= tokens * pairs) return;
  const i64 token = i / pairs, pair = i % pairs;
  const double at = offset + static_cast<double>(positions ? ld(positions + token / seq * ps + token % seq) : static_cast<int>(token % seq));
  const double angle = at * pow(base, -2.0 * static_cast<double>(pair) / static_cast<double>(2 * pairs));
  st(cs + 2 * i, static_cast<float>(cos(angle)));
  st(cs + 2 * i + 1, static_cast<float>(sin(angle)));
}
struct Shape {
  i64 tokens, seq, heads, dim, pairs, b, s, h, ob, os, oh;
  bool interleaved;
};
// A thread a (token, head); x and out may be the same memory.
template <class T>
__device__ void turn(const T* x, T* out, const float* cs, const Shape& n, i64 i) {
  const i64 token = i / n.heads, head = i % n.heads;
  x += token / n.seq * n.b + token % n.seq * n.s + head * n.h, out += token / n.seq * n.ob + token % n.seq * n.os + head * n.oh;
  for (i64 p = 0; p < n.pairs; ++p) {
    const i64 first = n.interleaved ? 2 * p : p, second = n.interleaved ? first + 1 : p + n.pairs;
    const float a = to_float(ld(x + first)), b = to_float(ld(x + second)), c = ld(cs + 2 * (token * n.pairs + p)), s = ld(cs + 2 * (token * n.pairs + p) + 1);
    st(out + first, from_float<T>(a * c - b * s));
    st(out + second, from_float<T>(a * s + b * c));
  }
  for (i64 d = 2 * n.pairs; d < n.dim; ++d) st(out + d, ld(x + d));
}
template <class T>
__global__ void rotate_q(const T* x, T* out, const float* cs, Shape n) {
  next_grid_may_start();
  wait_for_previous_grid();
  if (flat() < n.tokens * n.heads) turn(x, out, cs, n, flat());
}
template <class T>
__global__ void rotate_k(const T* x, T* out, const float* cs, Shape n) {
  next_grid_may_start();
  wait_for_previous_grid();
  if (flat() < n.tokens * n.heads) turn(x, out, cs, n, flat());
}

Shape shape_of(const rope::Args& a, const Tensor& x, const Tensor& o) {
  return {x.shape[0] * x.shape[1], x.shape[1], x.shape[2], x.shape[3], a.rotary() / 2, x.stride[0], x.stride[1], x.stride[2], o.stride[0], o.stride[1], o.stride[2],
          a.layout == rope::Layout::interleaved};
}

void run(const rope::Args& a, const Launch& l) {
  const Shape q = shape_of(a, a.q, a.q_out), k = shape_of(a, a.k, a.k_out);
  if (q.tokens == 0) return;
  float* cs = static_cast<float*>(l.workspace);
  if (q.pairs > 0)
    launch(table, {.grid = flat_grid(q.tokens * q.pairs), .block = dim3(kThreads)}, l.stream, a.positions.data ? a.positions.as<int>() : static_cast<int*>(nullptr), cs, q.tokens, q.seq,
           a.positions.data ? a.positions.stride[0] : 0, q.pairs, a.base_used(), a.offset);
  with_type(a.q.dtype, [&]<class T>(Type<T>) {
    launch(rotate_q<T>, {.grid = flat_grid(q.tokens * q.heads), .block = dim3(kThreads), .dependent = true}, l.stream, a.q.as<T>(), a.q_out.as<T>(), cs, q);
    launch(rotate_k<T>, {.grid = flat_grid(k.tokens * k.heads), .block = dim3(kThreads), .dependent = true}, l.stream, a.k.as<T>(), a.k_out.as<T>(), cs, k);
  });
}
}  // namespace assay::ROOM(rope, s08_in_place_table)
