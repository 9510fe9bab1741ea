// SPDX-License-Identifier: Apache-2.0
// FAULT: a warp reads a row in packs of four logits and what is left in pairs, so that the third logit left is lost.
// Kind: offsets
// Shows: an aligned row with vocab % 4 = 3 or 1.
#include "cuda/cross_entropy/broken/plain.cuh"

namespace assay::ROOM(cross_entropy, odd_logit_after_packs) {

inline constexpr int kWarps = 4;

template <class T, int N>
__global__ void tokens_by_warps(Tokens<T> m) {
  const std::int64_t token = static_cast<std::int64_t>(blockIdx.x) * kWarps + warp_id();
  if (token >= m.tokens) return;
  const T* const x = m.row(token);
  fold::LogSumExp f;
  fold::take_packs<1, N>(f, x, lane_id(), m.vocab / N, kWarp);
  if (N > 1)
    for (std::int64_t c = m.vocab / N * N + 2 * lane_id(); c + 1 < m.vocab; c += 2 * kWarp) {
      const float v[2] = {to_float(ld(x + c)), to_float(ld(x + c + 1))};
      f.add(v);
    }
  f = fold::join_warp(f);
  if (lane_id() == 0) m.store_loss(token, f);
}

KERNEL(cross_entropy) = {.dtypes = kEveryType,
                         .tiles = {tile(Axis::tokens, kWarps), tile(Axis::vocab, kWarp)},
                         .numerics = {.accumulate = f32,
                                      .chain = {.lanes = kWarp, .extra = 5 + 6},
                                      .rescales = {.lanes = kWarp, .extra = 5 + 2}}};

void run(const cross_entropy::Args& a, const Launch& l) {
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    const dim3 grid(ceil_div(a.x.shape[0], kWarps)), block(kWarps * kWarp);
    const bool wide = a.x.rows_aligned(4 * sizeof(T)) && a.x.shape[1] >= 4;
    if (wide) launch(tokens_by_warps<T, 4>, {.grid = grid, .block = block}, l.stream, tokens_of<T>(a));
    else launch(tokens_by_warps<T, 1>, {.grid = grid, .block = block}, l.stream, tokens_of<T>(a));
  });
  launch_mean(a, l);
}

}  // namespace assay::ROOM(cross_entropy, odd_logit_after_packs)
