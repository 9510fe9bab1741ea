// SPDX-License-Identifier: Apache-2.0
// SOUND: a warp per row walks over rows; while it normalises one, its lanes fetch the next by cp.async into the other of two buffers.
#include "cuda/core/kernel.cuh"
#include "cuda/core/reduce.cuh"
#include "ops/layernorm.hpp"

namespace assay::ROOM(layernorm, async_rows) {

inline constexpr int kWarps = 4, kMostCols = 2048, kRowsOfWarp = 4;

Legality takes(const layernorm::Args& a) {
  if (a.x.shape[1] > kMostCols) return Legality::no("a row does not fit into shared memory");
  if (!a.x.rows_aligned(16)) return Legality::no("rows of x are not 16-byte aligned");
  return Legality::yes();
}

KERNEL(layernorm){
    .dtypes = {f16, bf16, f32},
    .min_arch = 80,
    .tiles = {tile(Axis::rows, kWarps * kRowsOfWarp)},
    .numerics = {.accumulate = f32, .chain = {.lanes = 32, .extra = 6}},
    .supports = takes,
};

template <class T>
__global__ void async_rows(const T* x, const T* gamma, const T* beta, T* y, std::int64_t rows, int cols, int padded,
                           std::int64_t x_stride, std::int64_t y_stride, float epsilon) {
  constexpr int kPack = 16 / sizeof(T);
  const int lane = lane_id();
  T* buffers = shared_memory<T>() + static_cast<std::size_t>(warp_id()) * 2 * padded;
  const std::int64_t first = (static_cast<std::int64_t>(blockIdx.x) * kWarps + warp_id()) * kRowsOfWarp;
  const int mine = static_cast<int>(std::clamp<std::int64_t>(rows - first, 0, kRowsOfWarp));

  auto fetch = [&](int r) {
    for (int c = lane * kPack; c < cols; c += kWarp * kPack)
      cp_async<16>(buffers + r % 2 * padded + c, x + (first + r) * x_stride + c,
                   std::min(kPack, cols - c) * static_cast<int>(sizeof(T)));
  };
  if (mine > 0) fetch(0);
  cp_async_commit();
  for (int r = 0; r < mine; ++r) {
    if (r + 1 < mine) fetch(r + 1);
    cp_async_commit();
    cp_async_wait<1>();
    sync_warp();
    const T* row = buffers + r % 2 * padded;
    float sum = 0;
    for (int c = lane; c < cols; c += kWarp) sum += to_float(ld(row + c));
    const float mean = warp_sum(sum) / static_cast<float>(cols);
    sum = 0;
    for (int c = lane; c < cols; c += kWarp) {
      const float d = to_float(ld(row + c)) - mean;
      sum = fmaf(d, d, sum);
    }
    const float root = sqrtf(warp_sum(sum) / static_cast<float>(cols) + epsilon);
    for (int c = lane; c < cols; c += kWarp)
      st(y + (first + r) * y_stride + c,
         from_float<T>((to_float(ld(row + c)) - mean) / root * to_float(ld(gamma + c)) + to_float(ld(beta + c))));
    sync_warp();
  }
}

void run(const layernorm::Args& a, const Launch& l) {
  const std::int64_t rows = a.x.shape[0], cols = a.x.shape[1];
  if (rows == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    const auto padded = static_cast<int>(ceil_div(cols, 16 / sizeof(T)) * (16 / sizeof(T)));
    launch(async_rows<T>,
           {.grid = dim3(static_cast<unsigned>(ceil_div(rows, kWarps * kRowsOfWarp))),
            .block = dim3(kWarps * kWarp),
            .shared_bytes = kWarps * 2 * static_cast<std::size_t>(padded) * sizeof(T)},
           l.stream, a.x.as<T>(), a.gamma.as<T>(), a.beta.as<T>(), a.y.as<T>(), rows, static_cast<int>(cols), padded, a.x.stride[0],
           a.y.stride[0], static_cast<float>(a.epsilon));
  });
}

}  // namespace assay::ROOM(layernorm, async_rows)
