// SPDX-License-Identifier: Apache-2.0
// One launch for few tokens, one block per token: x and then h stay in shared memory as f32, so nothing between the products is
// rounded or leaves the chip.  A warp computes four units, then four outputs, at a time; a lane reads 16 bytes of each row per
// step.  Every block reads all weights, so this suits small models and a handful of tokens.  Sums have a fixed order.
#include "cuda/core/activation.cuh"
#include "cuda/core/row_pack.cuh"
#include "ops/ffn_gelu.hpp"

namespace assay::ROOM(ffn_gelu, one_launch) {

using namespace row_pack;

inline constexpr int kWarps = 16, kRows = 4;
inline constexpr std::int64_t kMostFloats = 24 * 1024;  // 96 KiB of x and h; sm_80 allows a block 163

Legality supports(const ffn_gelu::Args& a) {
  if (a.x.shape[1] + a.w1.shape[0] > kMostFloats)
    return Legality::no("hidden + ffn exceeds 24576, the most that fits in shared memory");
  return Legality::yes();
}

// A lane adds the packs of at most ceil(n / 32) elements, 7 more of a last pack and one of the tail, in sequence; the butterfly
// adds 5.
KERNEL(ffn_gelu){
    .dtypes = {f16, bf16, f32},
    .min_arch = 80,
    .tiles = {tile(Axis::hidden, kRows), tile(Axis::ffn, kRows)},
    .numerics = {.accumulate = f32, .chain = {.lanes = kWarp, .extra = 13}},
    .supports = supports,
};

// Dot products of rows [first, first + kRows) of w with a vector in shared memory; calls use(row, sum) in every lane.
template <int N, class T, class Use>
__device__ inline void multiply_rows(const T* w, std::int64_t w_stride, const float* vector, std::int64_t rows,
                                     std::int64_t inner, Use&& use) {
  const std::int64_t packs = inner / N, tail = tail_column<N>(inner, lane_id());
  for (std::int64_t first = static_cast<std::int64_t>(warp_id()) * kRows; first < rows; first += kWarps * kRows) {
    const T* const from = w + first * w_stride;
    const std::int64_t count = rows - first < kRows ? rows - first : kRows;
    float sum[kRows] = {};
    for (std::int64_t p = lane_id(); p < packs; p += kWarp) {
      Vec<T, N> v[kRows];
#pragma unroll
      for (int r = 0; r < kRows; ++r)
        if (r < count) v[r] = ld(reinterpret_cast<const Vec<T, N>*>(from + r * w_stride) + p);
#pragma unroll
      for (int j = 0; j < N; ++j) {
        const float x = ld(vector + p * N + j);
#pragma unroll
        for (int r = 0; r < kRows; ++r)
          if (r < count) sum[r] = fmaf(to_float(v[r][j]), x, sum[r]);
      }
    }
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      if (r >= count) continue;  // uniform over the warp
      if (tail < inner) sum[r] = fmaf(to_float(ld(from + r * w_stride + tail)), ld(vector + tail), sum[r]);
      use(first + r, warp_sum(sum[r]));
    }
  }
}

template <class T, int N, Activation kForm>
__global__ void __launch_bounds__(kWarps* kWarp)
    ffn_gelu_one_launch(const T* x, const T* w1, const T* b1, const T* w2, const T* b2, T* y, std::int64_t hidden,
                        std::int64_t ffn, std::int64_t x_stride, std::int64_t w1_stride, std::int64_t w2_stride,
                        std::int64_t y_stride) {
  float* const row = shared_memory<float>();
  float* const h = row + hidden;
  const std::int64_t token = blockIdx.x;
  for (std::int64_t i = threadIdx.x; i < hidden; i += kWarps * kWarp) st(row + i, to_float(ld(x + token * x_stride + i)));
  sync_block();

  multiply_rows<N>(w1, w1_stride, row, ffn, hidden, [&](std::int64_t f, float z) {
    if (lane_id() != 0) return;
    if (b1 != nullptr) z += to_float(ld(b1 + f));
    st(h + f, activate<kForm>(z));
  });
  sync_block();

  multiply_rows<N>(w2, w2_stride, h, hidden, ffn, [&](std::int64_t o, float v) {
    if (lane_id() == 0) st(y + token * y_stride + o, from_float<T>(b2 != nullptr ? v + to_float(ld(b2 + o)) : v));
  });
}

void run(const ffn_gelu::Args& a, const Launch& l) {
  const std::int64_t tokens = a.x.shape[0], hidden = a.x.shape[1], ffn = a.w1.shape[0];
  if (tokens == 0) return;
  const auto go = [&]<class T, int N>(Type<T>, std::integral_constant<int, N>) {
    with_gelu(a.form, [&]<Activation kForm>(std::integral_constant<Activation, kForm>) {
      launch(ffn_gelu_one_launch<T, N, kForm>,
             {.grid = dim3(tokens),
              .block = dim3(kWarps * kWarp),
              .shared_bytes = static_cast<std::size_t>(hidden + ffn) * sizeof(float)},
             l.stream, a.x.as<T>(), a.w1.as<T>(), a.b1.as<T>(), a.w2.as<T>(), a.b2.as<T>(), a.y.as<T>(), hidden, ffn,
             a.x.stride[0], a.w1.stride[0], a.w2.stride[0], a.y.stride[0]);
    });
  };
  with_type(a.x.dtype, [&]<class T>(Type<T> t) {
    const bool wide = a.w1.rows_aligned(kAccess) && a.w2.rows_aligned(kAccess);
    wide ? go(t, std::integral_constant<int, kPerAccess<T>>{}) : go(t, std::integral_constant<int, 1>{});
  });
}

}  // namespace assay::ROOM(ffn_gelu, one_launch)
