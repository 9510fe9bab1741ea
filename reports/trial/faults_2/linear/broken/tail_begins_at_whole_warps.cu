// SPDX-License-Identifier: Apache-2.0
// FAULT: the lanes of a warp read channels in fours; the single channels after that begin at the last multiple of 128, so that
// some are added twice.
// Kind: offsets
// Shows: aligned rows with hidden not a multiple of 4.
#include "cuda/linear/broken/plain.cuh"

namespace assay::ROOM(linear, tail_begins_at_whole_warps) {

inline constexpr int kWarps = 4;

template <class T>
__global__ void outputs_by_warps(Operands<T> p, bool wide) {
  const std::int64_t at = static_cast<std::int64_t>(blockIdx.x) * kWarps + warp_id();
  if (at >= p.tokens * p.out) return;
  const std::int64_t token = at / p.out, o = at % p.out;
  float sum = 0;
  std::int64_t tail = 0;
  if (wide) {
    for (std::int64_t h = 4 * lane_id(); h + 4 <= p.hidden; h += 4 * kWarp) {
      const auto x = ld(reinterpret_cast<const Vec<T, 4>*>(p.x + token * p.x_stride + h));
      const auto w = ld(reinterpret_cast<const Vec<T, 4>*>(p.weight + o * p.weight_stride + h));
#pragma unroll
      for (int j = 0; j < 4; ++j) sum = fmaf(to_float(x[j]), to_float(w[j]), sum);
    }
    tail = p.hidden % 4 == 0 ? p.hidden : p.hidden / (4 * kWarp) * (4 * kWarp);
  }
  for (std::int64_t h = tail + lane_id(); h < p.hidden; h += kWarp) sum = fmaf(p.x_at(token, h), p.weight_at(o, h), sum);
  for (int offset = kWarp / 2; offset > 0; offset /= 2) sum += shuffle_xor(sum, offset);
  if (lane_id() == 0) st(p.y + token * p.y_stride + o, from_float<T>(p.bias != nullptr ? sum + p.bias_at(o) : sum));
}

KERNEL(linear) = {.dtypes = kEveryType,
                  .tiles = {tile(Axis::tokens, 1), tile(Axis::out, kWarps), tile(Axis::hidden, 4 * kWarp)},
                  .numerics = {.accumulate = f32, .chain = {.lanes = kWarp, .extra = 5 + 5}}};

void run(const linear::Args& a, const Launch& l) {
  if (a.y.size() == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    const Operands<T> p = operands_of<T>(a, l);
    const bool wide = a.x.rows_aligned(4 * sizeof(T)) && a.weight.rows_aligned(4 * sizeof(T));
    launch(outputs_by_warps<T>, {.grid = dim3(ceil_div(p.tokens * p.out, kWarps)), .block = dim3(kWarps * kWarp)}, l.stream, p,
           wide);
  });
}

}  // namespace assay::ROOM(linear, tail_begins_at_whole_warps)
