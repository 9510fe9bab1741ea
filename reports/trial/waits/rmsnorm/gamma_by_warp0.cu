// SPDX-License-Identifier: Apache-2.0
// SOUND: warp 0 brings gamma into shared memory by cp.async while every warp adds the squares of its row; it waits, then a block barrier.
#include "cuda/core/kernel.cuh"
#include "cuda/core/reduce.cuh"
#include "ops/rmsnorm.hpp"

namespace assay::ROOM(rmsnorm, gamma_by_warp0) {

inline constexpr int kRows = 4, kMostCols = 16384;

Legality takes(const rmsnorm::Args& a) {
  return a.x.shape[1] <= kMostCols ? Legality::yes() : Legality::no("gamma does not fit into shared memory");
}

KERNEL(rmsnorm){
    .dtypes = {f16, bf16, f32},
    .min_arch = 80,
    .tiles = {tile(Axis::rows, kRows)},
    .numerics = {.accumulate = f32, .chain = {.lanes = 32, .extra = 6}},
    .supports = takes,
};

template <class T>
__global__ void gamma_by_warp0(const T* x, const T* gamma, T* y, int rows, int cols, std::int64_t x_stride, std::int64_t y_stride,
                               float epsilon, bool aligned) {
  constexpr int kPack = 16 / sizeof(T);
  T* weights = shared_memory<T>();
  const int lane = lane_id(), warp = warp_id();
  if (warp == 0) {
    if (aligned) {
      for (int c = lane * kPack; c < cols; c += kWarp * kPack)
        cp_async<16>(weights + c, gamma + c, std::min(kPack, cols - c) * static_cast<int>(sizeof(T)));
      cp_async_commit();
    } else {
      for (int c = lane; c < cols; c += kWarp) st(weights + c, ld(gamma + c));
    }
  }

  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * kRows + warp;
  const T* in = x + row * x_stride;
  float squares = 0;
  if (row < rows)
    for (int c = lane; c < cols; c += kWarp) {
      const float v = to_float(ld(in + c));
      squares = fmaf(v, v, squares);
    }
  squares = warp_sum(squares);
  const float root = sqrtf(squares / static_cast<float>(cols) + epsilon);

  if (warp == 0) cp_async_wait<0>();
  sync_block();
  if (row >= rows) return;
  T* out = y + row * y_stride;
  for (int c = lane; c < cols; c += kWarp) st(out + c, from_float<T>(to_float(ld(in + c)) / root * to_float(ld(weights + c))));
}

void run(const rmsnorm::Args& a, const Launch& l) {
  const std::int64_t rows = a.x.shape[0], cols = a.x.shape[1];
  if (rows == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(gamma_by_warp0<T>,
           {.grid = dim3(static_cast<unsigned>(ceil_div(rows, kRows))),
            .block = dim3(kRows * kWarp),
            .shared_bytes = static_cast<std::size_t>(ceil_div(cols * sizeof(T), 16) * 16)},
           l.stream, a.x.as<T>(), a.gamma.as<T>(), a.y.as<T>(), static_cast<int>(rows), static_cast<int>(cols), a.x.stride[0],
           a.y.stride[0], static_cast<float>(a.epsilon), reinterpret_cast<std::uintptr_t>(a.gamma.data) % 16 == 0);
  });
}

}  // namespace assay::ROOM(rmsnorm, gamma_by_warp0)
