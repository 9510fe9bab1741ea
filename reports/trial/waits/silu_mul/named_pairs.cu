// SPDX-License-Identifier: Apache-2.0
// SOUND: two pairs of warps.  The first warp of a pair copies by cp.async and waits, then arrives at a named barrier of 64 threads
// where the second waits; a second named barrier for each stage gives it back.
#include "cuda/core/hopper.cuh"
#include "cuda/core/kernel.cuh"
#include "ops/silu_mul.hpp"

namespace assay::ROOM(silu_mul, named_pairs) {

inline constexpr int kStages = 2, kPairs = 2;

Legality takes(const silu_mul::Args& a) {
  if (a.gate.size() == 0) return Legality::yes();
  if (!a.gate.rows_aligned(16) || !a.up.rows_aligned(16)) return Legality::no("rows of gate and up are not 16-byte aligned");
  return Legality::yes();
}

KERNEL(silu_mul){
    .dtypes = {f16, bf16, f32},
    .only_arch = 90,
    .tiles = {tile(Axis::rows, kPairs), tile_bytes(Axis::cols, 512)},
    .supports = takes,
};

__device__ inline float silu_times(float z, float up) {
  const float e = expf(-fabsf(z));
  return z * (z < 0 ? e : 1.0f) / (1 + e) * up;
}

template <class T>
__global__ void named_pairs(const T* gate, const T* up, T* y, std::int64_t rows, std::int64_t cols, std::int64_t gate_stride,
                            std::int64_t up_stride, std::int64_t y_stride) {
  constexpr int kPack = 16 / sizeof(T), kTile = kWarp * kPack;
  const int lane = lane_id(), pair = warp_id() % kPairs;
  const bool copies = warp_id() < kPairs;
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * kPairs + pair;
  if (row >= rows) return;  // both warps of the pair
  T* tiles = shared_memory<T>() + pair * kStages * 2 * kTile;
  const int full = 1 + pair * 2 * kStages, free = full + kStages;
  const std::int64_t chunks = ceil_div(cols, kTile);

  if (copies) {
    for (std::int64_t n = 0; n < chunks; ++n) {
      const int s = static_cast<int>(n % kStages);
      if (n >= kStages) sync_named(free + s, 2 * kWarp);
      const std::int64_t c = n * kTile + lane * kPack;
      if (c < cols) {
        const int bytes = static_cast<int>(std::min<std::int64_t>(kPack, cols - c) * sizeof(T));
        cp_async<16>(tiles + s * 2 * kTile + lane * kPack, gate + row * gate_stride + c, bytes);
        cp_async<16>(tiles + (s * 2 + 1) * kTile + lane * kPack, up + row * up_stride + c, bytes);
      }
      cp_async_commit();
      cp_async_wait<0>();
      arrive_named(full + s, 2 * kWarp);
    }
    return;
  }
  for (std::int64_t n = 0; n < chunks; ++n) {
    const int s = static_cast<int>(n % kStages);
    sync_named(full + s, 2 * kWarp);
    const T *g = tiles + s * 2 * kTile, *u = g + kTile;
    for (int i = lane; i < kTile && n * kTile + i < cols; i += kWarp)
      st(y + row * y_stride + n * kTile + i, from_float<T>(silu_times(to_float(ld(g + i)), to_float(ld(u + i)))));
    if (n + kStages < chunks) arrive_named(free + s, 2 * kWarp);
  }
}

void run(const silu_mul::Args& a, const Launch& l) {
  const std::int64_t rows = a.y.shape[0], cols = a.y.shape[1];
  if (rows == 0 || cols == 0) return;
  with_type(a.y.dtype, [&]<class T>(Type<T>) {
    launch(named_pairs<T>,
           {.grid = dim3(static_cast<unsigned>(ceil_div(rows, kPairs))),
            .block = dim3(2 * kPairs * kWarp),
            .shared_bytes = kPairs * kStages * 2 * kWarp * 16},
           l.stream, a.gate.as<T>(), a.up.as<T>(), a.y.as<T>(), rows, cols, a.gate.stride[0], a.up.stride[0], a.y.stride[0]);
  });
}

}  // namespace assay::ROOM(silu_mul, named_pairs)
