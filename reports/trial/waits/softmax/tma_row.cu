// SPDX-License-Identifier: Apache-2.0
// SOUND: one thread fetches 256-column boxes of a row into two stages and waits for them; a block barrier tells the others.
#include "cuda/core/hopper.cuh"
#include "cuda/core/kernel.cuh"
#include "cuda/core/reduce.cuh"
#include "ops/softmax.hpp"

namespace assay::ROOM(softmax, tma_row) {

inline constexpr int kThreads = 128, kTile = 256, kStages = 2;

Legality takes(const softmax::Args& a) {
  if (!a.x.rows_aligned(16)) return Legality::no("rows of x are not 16-byte aligned");
  return Legality::yes();
}

KERNEL(softmax){
    .dtypes = {f16, bf16, f32},
    .only_arch = 90,
    .tiles = {tile(Axis::cols, kTile)},
    .numerics = {.accumulate = f32, .chain = {.lanes = 128, .extra = 13}, .rescales = {.lanes = 128, .extra = 3}},
    .supports = takes,
};

template <class T>
__global__ void __launch_bounds__(kThreads) tma_row(const __grid_constant__ TensorMap x, T* y, std::int64_t rows, std::int64_t cols,
                                                    std::int64_t y_stride) {
  constexpr int kStageBytes = kTile * sizeof(T);
  float* partial = shared_memory<float>(kStages * kStageBytes);
  Barrier* full = shared_memory<Barrier>(kStages * kStageBytes + 128);
  const int t = static_cast<int>(threadIdx.x);
  const std::int64_t tiles = ceil_div(cols, kTile);
  const std::int64_t my_rows = (rows - blockIdx.x + gridDim.x - 1) / gridDim.x;
  const std::int64_t loads = my_rows * 2 * tiles;

  if (t == 0) {
    for (int s = 0; s < kStages; ++s) barrier_init(full + s, 1);
    barriers_ready();
  }
  sync_block();

  auto request = [&](std::int64_t n) {
    const std::int64_t row = blockIdx.x + n / (2 * tiles) * gridDim.x;
    const int s = static_cast<int>(n % kStages);
    barrier_arrive_expect(full + s, kStageBytes);
    copy_box(shared_memory<T>(s * kStageBytes), x, full + s, static_cast<int>(n % tiles * kTile), static_cast<int>(row));
  };
  if (t == 0) request(0);

  std::int64_t n = 0;
  for (std::int64_t row = blockIdx.x; row < rows; row += gridDim.x) {
    float max = -INFINITY, sum = 0, all_max = 0, all_sum = 0;
    for (int pass = 0; pass < 2; ++pass) {
      for (std::int64_t tile = 0; tile < tiles; ++tile, ++n) {
        if (t == 0) {
          if (n + 1 < loads) request(n + 1);
          barrier_wait(full + n % kStages, static_cast<int>(n / kStages % 2));
        }
        sync_block();
        const T* stage = shared_memory<T>(n % kStages * kStageBytes);
        for (int i = t; i < kTile && tile * kTile + i < cols; i += kThreads) {
          const float v = to_float(ld(stage + i));
          if (pass == 1) {
            st(y + row * y_stride + tile * kTile + i, from_float<T>(expf(v - all_max) / all_sum));
            continue;
          }
          if (v > max) sum *= expf(max - v), max = v;
          if (v != -INFINITY) sum += expf(v - max);
        }
        sync_block();
      }
      if (pass == 0) {
        all_max = block_max(max, partial);
        all_sum = block_sum(max == -INFINITY ? sum : sum * expf(max - all_max), partial);
      }
    }
  }
}

void run(const softmax::Args& a, const Launch& l) {
  const std::int64_t rows = a.x.shape[0], cols = a.x.shape[1];
  if (rows == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    const std::int64_t strides[] = {rows > 1 ? a.x.stride[0] : ceil_div(cols, 8) * 8};
    const TensorMap x = tensor_map<T, 2>(a.x.as<T>(), {cols, rows}, strides, {kTile, 1}, Swizzle::none);
    const auto blocks = static_cast<unsigned>(std::min<std::int64_t>(rows, 2 * multiprocessors()));
    launch(tma_row<T>, {.grid = dim3(blocks), .block = dim3(kThreads), .shared_bytes = kStages * kTile * sizeof(T) + 128 + 8 * kStages},
           l.stream, x, a.y.as<T>(), rows, cols, a.y.stride[0]);
  });
}

}  // namespace assay::ROOM(softmax, tma_row)
