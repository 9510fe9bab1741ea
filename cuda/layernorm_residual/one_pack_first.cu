// SPDX-License-Identifier: Apache-2.0
// As one_pack, and all warps ask for x before one asks for anything else, since only x holds up the sums.
// Supports rows of whole packs, at most 1024, each row aligned to 16 bytes.
#include "cuda/core/row_pack.cuh"
#include "ops/layernorm_residual.hpp"

namespace assay::ROOM(layernorm_residual, one_pack_first) {

using namespace row_pack;

inline constexpr int kMostThreads = 1024, kMostWarps = kMostThreads / kWarp;
inline constexpr int kQuad = 4;  // warps' sums that one access reads

Legality supports(const layernorm_residual::Args& a) {
  const std::int64_t per_pack = kAccess / size_of(a.x.dtype), cols = a.x.shape[1];
  const auto fits = [&](const Tensor& t) { return t.rows_aligned(kAccess) && t.stride[0] / per_pack <= INT32_MAX; };
  if (cols % per_pack != 0) return Legality::no("a row is no multiple of 16 bytes");
  if (cols / per_pack > kMostThreads) return Legality::no("a row exceeds 16 KiB, a pack for each of 1024 threads");
  if (!fits(a.x) || !fits(a.residual) || !fits(a.y) || !a.gamma.rows_aligned(kAccess) || !a.beta.rows_aligned(kAccess))
    return Legality::no("every row must start at a multiple of 16 bytes");
  return Legality::yes();
}

// Additions: 3 in a pack, 5 in a warp, then 7 of quads and 2 in one.
KERNEL(layernorm_residual){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::rows, 1), tile_bytes(Axis::cols, kWarp* kAccess)},  // columns: what one warp takes
    .numerics = {.accumulate = f32, .chain = {.lanes = kMostThreads * kPerAccess<half>, .extra = 3 + 5 + 7 + 2}},
    .supports = supports,
};

// Strides are in packs.  Note: 32 bits, so that a row's address takes one multiplication.
template <class Pack>
struct Rows {
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
__device__ inline float sum(float v, float* partial) {
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
__global__ void __launch_bounds__(kQuads* kQuad* kWarp) layernorm_residual_one_pack_first(Rows<Raw<T, kPerAccess<T>>> m) {
  constexpr int N = kPerAccess<T>, kSums = kQuads * kQuad;
  const int thread = static_cast<int>(threadIdx.x), row = static_cast<int>(blockIdx.x);
  const bool inside = thread < m.packs;
  const int p = inside ? thread : 0;  // a thread without a pack loads the first and counts it as zero

  // Load everything; the barrier has every warp's x asked for before what is needed later.
  const auto x = ld(m.x + (std::int64_t{row} * m.x_stride + p));
  sync_block();
  const auto gamma = ld(m.gamma + p);
  const auto beta = ld(m.beta + p);
  const auto residual = ld(m.residual + (std::int64_t{row} * m.residual_stride + p));
  float* const sums = shared_memory<float>();
  float* const squares = sums + kSums;
  if (thread < kSums && thread * kWarp >= m.packs) st(sums + thread, 0.0f), st(squares + thread, 0.0f);

  // Mean.
  float v[N], part[N];
  to_floats<T, N>(v, x);
#pragma unroll
  for (int j = 0; j < N; ++j) part[j] = v[j];
  const float mean = sum<kQuads>(inside ? pairwise_sum(part) : 0.0f, sums) / m.cols;

  // Variance.
#pragma unroll
  for (int j = 0; j < N; ++j) v[j] -= mean, part[j] = v[j] * v[j];
  const float r = 1.0f / sqrtf(sum<kQuads>(inside ? pairwise_sum(part) : 0.0f, squares) / m.cols + m.epsilon);

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
void launch_quads(const layernorm_residual::Args& a, const Launch& l) {
  using Pack = Raw<T, kPerAccess<T>>;
  const auto packs_in = [](std::int64_t elements) { return static_cast<int>(elements / kPerAccess<T>); };
  const int packs = packs_in(a.x.shape[1]);
  launch(layernorm_residual_one_pack_first<T, kQuads>,
         {.grid = dim3(a.x.shape[0]),
          .block = dim3(ceil_div(packs, kWarp) * kWarp),
          .shared_bytes = 2 * kQuads * kQuad * sizeof(float)},
         l.stream,
         Rows<Pack>{.x = reinterpret_cast<const Pack*>(a.x.as<T>()),
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

void run(const layernorm_residual::Args& a, const Launch& l) {
  if (a.x.shape[0] == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    const std::int64_t packs = a.x.shape[1] / kPerAccess<T>;
    if (packs <= 12 * kWarp) return launch_quads<T, 3>(a, l);
    if (packs <= 20 * kWarp) return launch_quads<T, 5>(a, l);
    launch_quads<T, kMostWarps / kQuad>(a, l);
  });
}

}  // namespace assay::ROOM(layernorm_residual, one_pack_first)
