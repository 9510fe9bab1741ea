// SPDX-License-Identifier: Apache-2.0
// SOUND: a ring of tensor copies.  One lane copies, a lane of another warp waits for each copy and passes it on by a second
// barrier, on which four warps wait; each of their threads gives the stage back by a third.
#include "cuda/core/hopper.cuh"
#include "cuda/core/kernel.cuh"
#include "cuda/core/reduce.cuh"
#include "ops/layernorm.hpp"

namespace assay::ROOM(layernorm, ring_relay) {

inline constexpr int kWorkers = 128, kThreads = kWorkers + 2 * kWarp, kTile = 128, kStages = 3;

Legality takes(const layernorm::Args& a) {
  if (!a.x.rows_aligned(16)) return Legality::no("rows of x are not 16-byte aligned");
  return Legality::yes();
}

KERNEL(layernorm){
    .dtypes = {f16, bf16, f32},
    .only_arch = 90,
    .tiles = {tile(Axis::cols, kTile)},
    .numerics = {.accumulate = f32, .chain = {.lanes = 128, .extra = 9}},
    .supports = takes,
};

// The sum over the four working warps.
__device__ inline float sum_of_workers(float v, float* partial) {
  v = warp_sum(v);
  if (lane_id() == 0) st(partial + warp_id(), v);
  sync_named(1, kWorkers);
  v = (ld(partial) + ld(partial + 1)) + (ld(partial + 2) + ld(partial + 3));
  sync_named(1, kWorkers);
  return v;
}

template <class T>
__global__ void __launch_bounds__(kThreads)
    ring_relay(const __grid_constant__ TensorMap x, const T* gamma, const T* beta, T* y, std::int64_t rows, std::int64_t cols,
               std::int64_t y_stride, float epsilon) {
  constexpr int kStageBytes = kTile * sizeof(T);
  float* partial = shared_memory<float>(kStages * kStageBytes);
  Barrier* full = shared_memory<Barrier>(kStages * kStageBytes + 64);
  Barrier *ready = full + kStages, *empty = ready + kStages;
  const int t = static_cast<int>(threadIdx.x), lane = lane_id();
  const std::int64_t tiles = ceil_div(cols, kTile);
  const std::int64_t my_rows = (rows - blockIdx.x + gridDim.x - 1) / gridDim.x;
  const std::int64_t loads = my_rows * 3 * tiles;

  if (t == 0) {
    for (int s = 0; s < kStages; ++s) {
      barrier_init(full + s, 1);
      barrier_init(ready + s, 1);
      barrier_init(empty + s, kWorkers);
    }
    barriers_ready();
  }
  sync_block();

  if (t >= kWorkers + kWarp) {  // passes each arrival on
    if (lane != 0) return;
    for (std::int64_t n = 0; n < loads; ++n) {
      const std::int64_t s = n % kStages;
      barrier_wait(full + s, static_cast<int>(n / kStages & 1));
      barrier_arrive(ready + s);
    }
    return;
  }
  if (t >= kWorkers) {  // copies
    if (lane != 0) return;
    for (std::int64_t n = 0; n < loads; ++n) {
      const std::int64_t s = n % kStages, use = n / kStages, row = blockIdx.x + n / (3 * tiles) * gridDim.x;
      if (use > 0) barrier_wait(empty + s, static_cast<int>((use - 1) & 1));
      barrier_arrive_expect(full + s, kStageBytes);
      copy_box(shared_memory<T>(s * kStageBytes), x, full + s, static_cast<int>(n % tiles * kTile), static_cast<int>(row));
    }
    return;
  }

  std::int64_t n = 0;
  for (std::int64_t row = blockIdx.x; row < rows; row += gridDim.x) {
    float mean = 0, root = 0, sum = 0;
    for (int pass = 0; pass < 3; ++pass) {
      for (std::int64_t tile = 0; tile < tiles; ++tile, ++n) {
        const std::int64_t s = n % kStages, c = tile * kTile + t;
        barrier_wait(ready + s, static_cast<int>(n / kStages & 1));
        const float v = to_float(ld(shared_memory<T>(s * kStageBytes) + t));
        barrier_arrive(empty + s);
        if (c >= cols) continue;
        if (pass == 0) sum += v;
        if (pass == 1) sum = fmaf(v - mean, v - mean, sum);
        if (pass == 2) st(y + row * y_stride + c, from_float<T>((v - mean) / root * to_float(ld(gamma + c)) + to_float(ld(beta + c))));
      }
      if (pass == 0) mean = sum_of_workers(sum, partial) / static_cast<float>(cols), sum = 0;
      if (pass == 1) root = sqrtf(sum_of_workers(sum, partial) / static_cast<float>(cols) + epsilon);
    }
  }
}

void run(const layernorm::Args& a, const Launch& l) {
  const std::int64_t rows = a.x.shape[0], cols = a.x.shape[1];
  if (rows == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    const std::int64_t strides[] = {rows > 1 ? a.x.stride[0] : ceil_div(cols, 8) * 8};
    const TensorMap x = tensor_map<T, 2>(a.x.as<T>(), {cols, rows}, strides, {kTile, 1}, Swizzle::none);
    const auto blocks = static_cast<unsigned>(std::min<std::int64_t>(rows, multiprocessors()));
    launch(ring_relay<T>,
           {.grid = dim3(blocks), .block = dim3(kThreads), .shared_bytes = kStages * kTile * sizeof(T) + 64 + 3 * kStages * 8},
           l.stream, x, a.gamma.as<T>(), a.beta.as<T>(), a.y.as<T>(), rows, cols, a.y.stride[0], static_cast<float>(a.epsilon));
  });
}

}  // namespace assay::ROOM(layernorm, ring_relay)
