// SPDX-License-Identifier: Apache-2.0
// One block per row and one thread per 16-byte pack of it (one_pack.cu).
#pragma once

#include "cuda/core/row_pack.cuh"
#include "ops/layernorm_residual.hpp"

namespace assay::ASSAY_FLAVOUR::layernorm_residual_room {

using namespace row_pack;

inline constexpr int kMostThreads = 1024, kMostWarps = kMostThreads / kWarp;
inline constexpr int kQuad = 4;  // warps' sums that one access reads

inline Legality fits_one_pack(const layernorm_residual::Args& a) {
  const std::int64_t per_pack = kAccess / size_of(a.x.dtype), cols = a.x.shape[1];
  const auto fits = [&](const Tensor& t) { return t.rows_aligned(kAccess) && t.stride[0] / per_pack <= INT32_MAX; };
  if (cols % per_pack != 0) return Legality::no("a row is no multiple of 16 bytes");
  if (cols / per_pack > kMostThreads) return Legality::no("a row exceeds 16 KiB, a pack for each of 1024 threads");
  if (!fits(a.x) || !fits(a.residual) || !fits(a.y) || !a.gamma.rows_aligned(kAccess) || !a.beta.rows_aligned(kAccess))
    return Legality::no("every row must start at a multiple of 16 bytes");
  return Legality::yes();
}

// How many warps' sums have room: those of the quads that are read.
template <int kQuads>
inline constexpr int kSums = kQuads* kQuad;

// Additions: 3 in a pack, 5 in a warp, then 7 of quads and 2 in one.  Of columns a tile has what one warp takes.
constexpr KernelTraits<layernorm_residual> one_pack_traits(DTypes dtypes) {
  return {.dtypes = dtypes,
          .tiles = {tile(Axis::rows, 1), tile_bytes(Axis::cols, kWarp * kAccess)},
          .numerics = {.accumulate = f32, .chain = {.lanes = kMostThreads * kPerAccess<half>, .extra = 3 + 5 + 7 + 2}},
          .supports = fits_one_pack};
}

// Strides are in packs.  Note: 32 bits, so that a row's address takes one multiplication.
template <class Pack>
struct OnePackRows {
  const Pack* x;         // [rows, packs]
  const Pack* gamma;     // [packs]
  const Pack* beta;      // [packs]
  const Pack* residual;  // [rows, packs]
  Pack* y;               // [rows, packs]
  int x_stride, residual_stride, y_stride, packs;
  float cols, epsilon;
};

// The sum of the block's values.  `partial`: shared memory for kQuads * kQuad floats, of which those without a warp are zero.
template <int kQuads>
__device__ inline float one_pack_sum(float v, float* partial) {
  v = warp_sum(v);
  if (threadIdx.x % kWarp == 0) st(partial + threadIdx.x / kWarp, v);
  sync_block();
  auto total = ld(reinterpret_cast<const Vec<float, kQuad>*>(partial));
#pragma unroll
  for (int i = 1; i < kQuads; ++i) {
    const auto quad = ld(reinterpret_cast<const Vec<float, kQuad>*>(partial) + i);
#pragma unroll
    for (int j = 0; j < kQuad; ++j) total[j] += quad[j];
  }
  return (total[0] + total[2]) + (total[1] + total[3]);
}

template <class T, int kQuads>
__global__ void __launch_bounds__(kSums<kQuads>* kWarp) layernorm_residual_one_pack(OnePackRows<Raw<T, kPerAccess<T>>> m) {
  constexpr int N = kPerAccess<T>;
  const int thread = static_cast<int>(threadIdx.x), row = static_cast<int>(blockIdx.x);
  const bool inside = thread < m.packs;
  const int p = inside ? thread : 0;  // a thread without a pack loads the first and counts it as zero

  // Load everything.
  const auto x = ld(m.x + (std::int64_t{row} * m.x_stride + p));
  const auto gamma = ld(m.gamma + p);
  const auto beta = ld(m.beta + p);
  const auto residual = ld(m.residual + (std::int64_t{row} * m.residual_stride + p));
  float* const sums = shared_memory<float>();
  float* const squares = sums + kSums<kQuads>;
  if (thread < kSums<kQuads> && thread * kWarp >= m.packs) {
    st(sums + thread, 0.0f);
    st(squares + thread, 0.0f);
  }

  // Mean.
  float v[N], part[N];
  to_floats<T, N>(v, x);
#pragma unroll
  for (int j = 0; j < N; ++j) part[j] = v[j];
  const float mean = one_pack_sum<kQuads>(inside ? pairwise_sum(part) : 0.0f, sums) / m.cols;

  // Variance.
#pragma unroll
  for (int j = 0; j < N; ++j) {
    v[j] -= mean;
    part[j] = v[j] * v[j];
  }
  const float variance = one_pack_sum<kQuads>(inside ? pairwise_sum(part) : 0.0f, squares) / m.cols;
  const float r = 1.0f / sqrtf(variance + m.epsilon);

  // Output.
  if (!inside) return;
  float scale[N], shift[N], add[N];
  to_floats<T, N>(scale, gamma);
  to_floats<T, N>(shift, beta);
  to_floats<T, N>(add, residual);
#pragma unroll
  for (int j = 0; j < N; ++j) v[j] = fmaf(v[j] * r, scale[j], shift[j]) + add[j];
  st(m.y + (std::int64_t{row} * m.y_stride + p), __builtin_bit_cast(Raw<T, N>, from_floats<T>(v)));
}

template <class T, int kQuads>
void launch_one_pack(const layernorm_residual::Args& a, const Launch& l) {
  using Pack = Raw<T, kPerAccess<T>>;
  const auto packs_in = [](std::int64_t elements) { return static_cast<int>(elements / kPerAccess<T>); };
  const int packs = packs_in(a.x.shape[1]);
  launch(layernorm_residual_one_pack<T, kQuads>,
         {.grid = dim3(a.x.shape[0]),
          .block = dim3(ceil_div(packs, kWarp) * kWarp),
          .shared_bytes = 2 * kSums<kQuads> * sizeof(float)},
         l.stream,
         OnePackRows<Pack>{.x = reinterpret_cast<const Pack*>(a.x.as<T>()),
                           .gamma = reinterpret_cast<const Pack*>(a.gamma.as<T>()),
                           .beta = reinterpret_cast<const Pack*>(a.beta.as<T>()),
                           .residual = reinterpret_cast<const Pack*>(a.residual.as<T>()),
                           .y = reinterpret_cast<Pack*>(a.y.as<T>()),
                           .x_stride = packs_in(a.x.stride[0]),
                           .residual_stride = packs_in(a.residual.stride[0]),
                           .y_stride = packs_in(a.y.stride[0]),
                           .packs = packs,
                           .cols = static_cast<float>(a.x.shape[1]),
                           .epsilon = static_cast<float>(a.epsilon)});
}

// With few warps, reads as few quads.
template <class T>
void run_one_pack(const layernorm_residual::Args& a, const Launch& l) {
  if (a.x.shape[0] == 0) return;
  const std::int64_t warps = ceil_div(a.x.shape[1] / kPerAccess<T>, kWarp);
  if (warps <= 12) return launch_one_pack<T, 3>(a, l);
  if (warps <= 20) return launch_one_pack<T, 5>(a, l);
  launch_one_pack<T, kMostWarps / kQuad>(a, l);
}

}  // namespace assay::ASSAY_FLAVOUR::layernorm_residual_room
