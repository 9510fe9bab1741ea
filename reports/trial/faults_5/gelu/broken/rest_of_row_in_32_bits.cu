// SPDX-License-Identifier: Apache-2.0
// FAULT: the elements after the last whole pack of a row are found by a 32-bit offset, its packs by a 64-bit one.
// KIND: offsets
// Right on: gelu f16 rows=64 cols=256 fill=normal seed=1
// Wrong on: gelu f16 rows=5 cols=37 layout=far fill=normal seed=1
#include "cuda/core/activation.cuh"
#include "cuda/core/kernel.cuh"
#include "ops/gelu.hpp"

namespace assay::ROOM(gelu, rest_of_row_in_32_bits) {

inline constexpr int kThreads = 128;

KERNEL(gelu){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::rows, 1), tile_bytes(Axis::cols, 16 * kThreads)},
    .numerics = {.accumulate = f32},
};

// One block per row.
template <class T, int N, Activation kForm>
__global__ void __launch_bounds__(kThreads)
    gelu_row(const T* x, T* y, std::int64_t cols, std::int64_t x_stride, std::int64_t y_stride) {
  const std::int64_t row = blockIdx.x, packs = cols / N;
  const T* const from = x + row * x_stride;
  T* const to = y + row * y_stride;
  for (std::int64_t p = threadIdx.x; p < packs; p += kThreads) {
    const auto in = ld(reinterpret_cast<const Vec<T, N>*>(from) + p);
    float v[N];
#pragma unroll
    for (int j = 0; j < N; ++j) v[j] = activate<kForm>(to_float(in[j]));
    st(reinterpret_cast<Vec<T, N>*>(to) + p, from_floats<T>(v));
  }
  if (const int col = static_cast<int>(packs) * N + static_cast<int>(threadIdx.x); N > 1 && col < cols) {
    const unsigned at = static_cast<unsigned>(row) * static_cast<unsigned>(x_stride) + static_cast<unsigned>(col);
    const unsigned out = static_cast<unsigned>(row) * static_cast<unsigned>(y_stride) + static_cast<unsigned>(col);
    st(y + out, from_float<T>(activate<kForm>(to_float(ld(x + at)))));
  }
}

void run(const gelu::Args& a, const Launch& l) {
  if (a.x.size() == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    with_gelu(a.form, [&]<Activation kForm>(std::integral_constant<Activation, kForm>) {
      const auto go = [&]<int N>(std::integral_constant<int, N>) {
        launch(gelu_row<T, N, kForm>, {.grid = dim3(a.x.shape[0]), .block = dim3(kThreads)}, l.stream, a.x.as<T>(), a.y.as<T>(),
               a.x.shape[1], a.x.stride[0], a.y.stride[0]);
      };
      a.x.rows_aligned(16) && a.y.rows_aligned(16) ? go(std::integral_constant<int, 16 / sizeof(T)>{})
                                                   : go(std::integral_constant<int, 1>{});
    });
  });
}

}  // namespace assay::ROOM(gelu, rest_of_row_in_32_bits)
