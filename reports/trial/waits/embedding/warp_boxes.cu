// SPDX-License-Identifier: Apache-2.0
// SOUND: each warp gathers rows for itself; its lane 0 copies boxes of the table into two stages and waits, sync_warp tells the lanes.
#include "cuda/core/hopper.cuh"
#include "cuda/core/kernel.cuh"
#include "ops/embedding.hpp"

namespace assay::ROOM(embedding, warp_boxes) {

inline constexpr int kWarps = 4, kTile = 128, kStages = 2;

Legality takes(const embedding::Args& a) {
  if (a.table.shape[1] == 0) return Legality::yes();
  if (!a.table.rows_aligned(16)) return Legality::no("rows of the table are not 16-byte aligned");
  return Legality::yes();
}

KERNEL(embedding){
    .dtypes = {f16, bf16, f32},
    .only_arch = 90,
    .tiles = {tile(Axis::tokens, kWarps), tile(Axis::hidden, kTile)},
    .supports = takes,
};

template <class T>
__global__ void warp_boxes(const __grid_constant__ TensorMap table, const int* ids, T* y, std::int64_t tokens, std::int64_t hidden,
                           std::int64_t y_stride) {
  constexpr int kStageBytes = kTile * sizeof(T);
  const int lane = lane_id(), warp = warp_id();
  const std::size_t mine = static_cast<std::size_t>(warp) * kStages * kStageBytes;
  Barrier* full = shared_memory<Barrier>(kWarps * kStages * kStageBytes) + warp * kStages;
  const std::int64_t chunks = ceil_div(hidden, kTile), first = static_cast<std::int64_t>(blockIdx.x) * kWarps + warp;
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * kWarps;
  const std::int64_t work = first < tokens ? ceil_div(tokens - first, step) * chunks : 0;

  if (lane == 0) {
    for (int s = 0; s < kStages; ++s) barrier_init(full + s, 1);
    barriers_ready();
  }
  sync_warp();

  auto request = [&](std::int64_t n) {
    const std::int64_t s = n % kStages;
    const int id = ld(ids + first + n / chunks * step);
    barrier_arrive_expect(full + s, kStageBytes);
    copy_box(shared_memory<T>(mine + s * kStageBytes), table, full + s, static_cast<int>(n % chunks * kTile), id);
  };
  if (lane == 0 && work > 0) request(0);
  for (std::int64_t n = 0; n < work; ++n) {
    const std::int64_t s = n % kStages, token = first + n / chunks * step, c = n % chunks * kTile;
    if (lane == 0) {
      if (n + 1 < work) request(n + 1);
      barrier_wait(full + s, static_cast<int>(n / kStages & 1));
    }
    sync_warp();
    const T* stage = shared_memory<T>(mine + s * kStageBytes);
    for (int i = lane; i < kTile && c + i < hidden; i += kWarp) st(y + token * y_stride + c + i, ld(stage + i));
    sync_warp();
  }
}

void run(const embedding::Args& a, const Launch& l) {
  const std::int64_t tokens = a.y.shape[0], hidden = a.y.shape[1], vocab = a.table.shape[0];
  if (tokens == 0 || hidden == 0) return;
  with_type(a.y.dtype, [&]<class T>(Type<T>) {
    const std::int64_t strides[] = {vocab > 1 ? a.table.stride[0] : ceil_div(hidden, 8) * 8};
    const TensorMap table = tensor_map<T, 2>(a.table.as<T>(), {hidden, vocab}, strides, {kTile, 1}, Swizzle::none);
    const auto blocks = static_cast<unsigned>(std::min<std::int64_t>(ceil_div(tokens, kWarps), 2 * multiprocessors()));
    launch(warp_boxes<T>,
           {.grid = dim3(blocks), .block = dim3(kWarps * kWarp), .shared_bytes = kWarps * kStages * (kTile * sizeof(T) + 8)}, l.stream,
           table, a.ids.as<int>(), a.y.as<T>(), tokens, hidden, a.y.stride[0]);
  });
}

}  // namespace assay::ROOM(embedding, warp_boxes)
