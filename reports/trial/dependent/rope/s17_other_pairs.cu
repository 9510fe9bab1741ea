// SPDX-License-Identifier: Apache-2.0
// SOUND: launch 1 turns the even pairs, in place where asked; launch 2 reads the odd pairs (which no launch wrote) before its wait and writes them after it
#include "../dl.cuh"
#include "ops/rope.hpp"

namespace assay::ROOM(rope, s17_other_pairs) {
using namespace dl;

Legality by_base(const rope::Args& a) { return a.given_frequencies ? Legality::no("takes no table of frequencies") : Legality::yes(); }

KERNEL(rope){.dtypes = {f16, bf16, f32}, .min_arch = 90, .numerics = {.function_error = 2, .angle_error = 0x1p-20f}, .supports = by_base};

struct Shape {
  i64 tokens, seq, heads, dim, pairs, b, s, h, ob, os, oh;
  bool interleaved;
  const int* positions;
  i64 ps;
  double base, offset;
};
// A thread a (token, head, pair of this parity); the last ones copy what is not turned.
template <class T>
__global__ void turn(const T* x, T* out, Shape n, i64 parity, i64 step) {
  next_grid_may_start();
  const i64 here = n.pairs / step + 1, i = flat();
  float a = 0, b = 0, c = 1, s = 0;
  i64 p = 0, first = 0, second = 0;
  const bool live = i < n.tokens * n.heads * here;
  if (live) {
    const i64 token = i / here / n.heads, head = i / here % n.heads;
    p = i % here * step + parity;
    x += token / n.seq * n.b + token % n.seq * n.s + head * n.h, out += token / n.seq * n.ob + token % n.seq * n.os + head * n.oh;
    first = n.interleaved ? 2 * p : p, second = n.interleaved ? first + 1 : p + n.pairs;
    const double at = n.offset + static_cast<double>(n.positions ? ld(n.positions + token / n.seq * n.ps + token % n.seq) : static_cast<int>(token % n.seq));
    const double angle = at * pow(n.base, -2.0 * static_cast<double>(p) / static_cast<double>(2 * n.pairs));
    c = static_cast<float>(cos(angle)), s = static_cast<float>(sin(angle));
    if (p < n.pairs) a = to_float(ld(x + first)), b = to_float(ld(x + second));
  }
  wait_for_previous_grid();
  if (!live) return;
  if (p < n.pairs) st(out + first, from_float<T>(a * c - b * s)), st(out + second, from_float<T>(a * s + b * c));
  if (i % here == 0 && parity == 0)
    for (i64 d = 2 * n.pairs; d < n.dim; ++d) st(out + d, ld(x + d));
}
void run(const rope::Args& a, const Launch& l) {
  with_type(a.q.dtype, [&]<class T>(Type<T>) {
    const auto both = [&](const Tensor& x, const Tensor& o) {
      const Shape n{x.shape[0] * x.shape[1], x.shape[1], x.shape[2], x.shape[3], a.rotary() / 2, x.stride[0], x.stride[1], x.stride[2], o.stride[0], o.stride[1], o.stride[2],
                    a.layout == rope::Layout::interleaved, a.positions.data ? a.positions.as<int>() : nullptr, a.positions.data ? a.positions.stride[0] : 0, a.base_used(), a.offset};
      if (n.tokens == 0) return;
      const dim3 grid = flat_grid(n.tokens * n.heads * (n.pairs / 2 + 1));
      launch(turn<T>, {.grid = grid, .block = dim3(kThreads)}, l.stream, x.as<T>(), o.as<T>(), n, i64{0}, i64{2});
      launch(turn<T>, {.grid = grid, .block = dim3(kThreads), .dependent = true}, l.stream, x.as<T>(), o.as<T>(), n, i64{1}, i64{2});
    };
    both(a.q, a.q_out);
    both(a.k, a.k_out);
  });
}
}  // namespace assay::ROOM(rope, s17_other_pairs)
