// SPDX-License-Identifier: Apache-2.0
// FAULT: takes single elements up to the first multiple of 16 bytes, then packs, where x and y lie alike; it does not limit
// the first part to the length of the row. Visible where a row has fewer elements than that part, such as 3 columns that start
// 2 bytes after a multiple of 16: it stores behind the row.
// KIND: offsets
#include "cuda/core/activation.cuh"
#include "cuda/core/kernel.cuh"
#include "ops/gelu.hpp"

namespace assay::ROOM(gelu, peels_past_a_short_row) {

inline constexpr int kWarps = 4;

KERNEL(gelu){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::rows, kWarps), tile_bytes(Axis::cols, 16 * kWarp)},
    .numerics = {.accumulate = f32},
};

template <class T, Activation kForm>
__global__ void __launch_bounds__(kWarps* kWarp)
    gelu_peeled(const T* x, T* y, std::int64_t rows, std::int64_t cols, std::int64_t x_stride, std::int64_t y_stride) {
  constexpr int N = 16 / static_cast<int>(sizeof(T));
  using Pack = Vec<T, N>;
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * kWarps + warp_id();
  if (row >= rows) return;
  x += row * x_stride, y += row * y_stride;
  const auto one = [&](std::int64_t c) { st(y + c, from_float<T>(activate<kForm>(to_float(ld(x + c))))); };
  const auto misses = [](const T* p) {
    return static_cast<int>((16 - reinterpret_cast<std::uintptr_t>(p) % 16) % 16 / sizeof(T));
  };
  if (misses(x) != misses(y)) {
    for (std::int64_t c = lane_id(); c < cols; c += kWarp) one(c);
    return;
  }
  const int ahead = misses(x);  // elements before the first whole pack
  if (lane_id() < ahead) one(lane_id());
  const std::int64_t packs = (cols - ahead) / N;
  for (std::int64_t p = lane_id(); p < packs; p += kWarp) {
    const Pack in = ld(reinterpret_cast<const Pack*>(x + ahead) + p);
    float v[N];
#pragma unroll
    for (int j = 0; j < N; ++j) v[j] = activate<kForm>(to_float(in[j]));
    st(reinterpret_cast<Pack*>(y + ahead) + p, from_floats<T>(v));
  }
  if (const std::int64_t c = ahead + packs * N + lane_id(); c < cols) one(c);
}

void run(const gelu::Args& a, const Launch& l) {
  if (a.x.size() == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    with_gelu(a.form, [&]<Activation kForm>(std::integral_constant<Activation, kForm>) {
      launch(gelu_peeled<T, kForm>, {.grid = dim3(ceil_div(a.x.shape[0], kWarps)), .block = dim3(kWarps * kWarp)}, l.stream,
             a.x.as<T>(), a.y.as<T>(), a.x.shape[0], a.x.shape[1], a.x.stride[0], a.y.stride[0]);
    });
  });
}

}  // namespace assay::ROOM(gelu, peels_past_a_short_row)
