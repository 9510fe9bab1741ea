// SPDX-License-Identifier: Apache-2.0
// FAULT: only the first of the tiles that cp.async brings is waited for before the barrier.
// Caught by: T4 on simt, which sees the bytes in flight; on a GPU T1, where the copies are late. More than 16 channels.
#include "cuda/linear/broken/plain.cuh"

namespace assay::ROOM(linear, missing_async_wait) {

inline constexpr int kThreads = 32, kTokens = 16, kOut = 8, kK = 16;

Legality supports(const linear::Args& a) {
  if (a.x.rows_aligned(16) && a.weight.rows_aligned(16)) return Legality::yes();
  return Legality::no("rows must start at multiples of 16 bytes");
}

KERNEL(linear){
    .dtypes = {f16, bf16},
    .min_arch = 80,
    .tiles = {tile(Axis::tokens, kTokens), tile(Axis::out, kOut), tile(Axis::hidden, kK)},
    .numerics = {.accumulate = f32, .mma_terms = 8},
    .supports = supports,
};

template <class T>
__global__ void missing_async_wait(Operands<T> p) {
  T* const x_tile = shared_memory<T>();
  T* const w_tile = x_tile + kTokens * kK;
  const std::int64_t token = static_cast<std::int64_t>(blockIdx.x) * kTokens;
  const std::int64_t feature = static_cast<std::int64_t>(blockIdx.y) * kOut;
  const int lane = lane_id(), row = lane / 2, part = lane % 2 * 8;
  float c[4] = {0, 0, 0, 0};
  for (std::int64_t k = 0; k < p.hidden; k += kK) {
    const std::int64_t left = p.hidden - k - part;
    const int bytes = left >= 8 ? 16 : left > 0 ? static_cast<int>(left) * 2 : 0;
    const bool x_there = token + row < p.tokens && bytes > 0, w_there = feature + row < p.out && bytes > 0;
    cp_async<16>(x_tile + row * kK + part, x_there ? p.x + (token + row) * p.x_stride + k + part : p.x, x_there ? bytes : 0);
    if (row < kOut)
      cp_async<16>(w_tile + row * kK + part, w_there ? p.weight + (feature + row) * p.weight_stride + k + part : p.weight,
                   w_there ? bytes : 0);
    cp_async_commit();
    if (k == 0) cp_async_wait<0>();
    sync_block();
    unsigned a[4], b[2];
    ldmatrix<4>(a, x_tile + lane % 16 * kK + lane / 16 * 8);
    ldmatrix<2>(b, w_tile + lane % 8 * kK + lane / 8 % 2 * 8);
    mma_m16n8k16<T>(c, a, b);
    sync_block();
  }
  for (int e = 0; e < 4; ++e) {
    const std::int64_t t = token + lane / 4 + e / 2 * 8, o = feature + lane % 4 * 2 + e % 2;
    if (t < p.tokens && o < p.out) st(p.y + t * p.y_stride + o, from_float<T>(Plain<T>::add_bias(p, c[e], o)));
  }
}

void run(const linear::Args& a, const Launch& l) {
  if (a.y.size() == 0) return;
  with_half_type(a.x.dtype, [&]<class T>(Type<T>) {
    const Operands<T> p = operands_of<T>(a, l);
    launch(missing_async_wait<T>,
           {.grid = dim3(ceil_div(p.tokens, kTokens), ceil_div(p.out, kOut)),
            .block = dim3(kThreads),
            .shared_bytes = (kTokens + kOut) * kK * 2},
           l.stream, p);
  });
}

}  // namespace assay::ROOM(linear, missing_async_wait)
