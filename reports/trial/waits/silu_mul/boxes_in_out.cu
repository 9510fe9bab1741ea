// SPDX-License-Identifier: Apache-2.0
// SOUND: thread 0 copies boxes of gate and up in, and boxes of the product out; it alone waits, two block barriers an iteration.
#include "cuda/core/hopper.cuh"
#include "cuda/core/kernel.cuh"
#include "ops/silu_mul.hpp"

namespace assay::ROOM(silu_mul, boxes_in_out) {

inline constexpr int kThreads = 128, kCols = 64, kRows = 8, kStages = 2, kBox = kCols * kRows;

Legality takes(const silu_mul::Args& a) {
  if (a.y.size() == 0) return Legality::yes();
  if (!a.gate.rows_aligned(16) || !a.up.rows_aligned(16) || !a.y.rows_aligned(16)) return Legality::no("rows are not 16-byte aligned");
  if (a.y.shape[1] * size_of(a.y.dtype) % 16) return Legality::no("rows are no multiple of 16 bytes");
  return Legality::yes();
}

KERNEL(silu_mul){
    .dtypes = {f16, bf16, f32},
    .only_arch = 90,
    .tiles = {tile(Axis::rows, kRows), tile(Axis::cols, kCols)},
    .supports = takes,
};

__device__ inline float silu_times(float z, float up) {
  const float e = expf(-fabsf(z));
  return z * (z < 0 ? e : 1.0f) / (1 + e) * up;
}

template <class T>
__global__ void boxes_in_out(const __grid_constant__ TensorMap gate, const __grid_constant__ TensorMap up,
                             const __grid_constant__ TensorMap y, std::int64_t across, std::int64_t boxes) {
  constexpr int kBytes = kBox * sizeof(T);
  Barrier* full = shared_memory<Barrier>(3 * kStages * kBytes);
  auto part = [&](std::int64_t s, int what) { return shared_memory<T>((s * 3 + what) * kBytes); };  // gate, up, product
  const int t = static_cast<int>(threadIdx.x);
  auto x_of = [&](std::int64_t n) { return static_cast<int>((blockIdx.x + n * gridDim.x) % across * kCols); };
  auto y_of = [&](std::int64_t n) { return static_cast<int>((blockIdx.x + n * gridDim.x) / across * kRows); };
  const std::int64_t work = (boxes - blockIdx.x + gridDim.x - 1) / gridDim.x;

  auto request = [&](std::int64_t n) {
    const std::int64_t s = n % kStages;
    barrier_arrive_expect(full + s, 2 * kBytes);
    copy_box(part(s, 0), gate, full + s, x_of(n), y_of(n));
    copy_box(part(s, 1), up, full + s, x_of(n), y_of(n));
  };
  if (t == 0) {
    barrier_init(full, 1);
    barrier_init(full + 1, 1);
    barriers_ready();
    request(0);
  }

  for (std::int64_t n = 0; n < work; ++n) {
    const std::int64_t s = n % kStages;
    if (t == 0) {
      if (n + 1 < work) request(n + 1);
      barrier_wait(full + s, static_cast<int>(n / kStages % 2));
      store_wait_read<1>();  // the store of two iterations ago has left its stage
    }
    sync_block();
    const T *g = part(s, 0), *u = part(s, 1);
    T* out = part(s, 2);
    for (int i = t; i < kBox; i += kThreads) st(out + i, from_float<T>(silu_times(to_float(ld(g + i)), to_float(ld(u + i)))));
    fence_shared_async();
    sync_block();
    if (t == 0) {
      store_box(y, out, x_of(n), y_of(n));
      store_commit();
    }
  }
  if (t == 0) store_wait<0>();
}

void run(const silu_mul::Args& a, const Launch& l) {
  const std::int64_t rows = a.y.shape[0], cols = a.y.shape[1];
  if (rows == 0 || cols == 0) return;
  with_type(a.y.dtype, [&]<class T>(Type<T>) {
    const auto map = [&](const Tensor& x) {
      const std::int64_t strides[] = {rows > 1 ? x.stride[0] : ceil_div(cols, 8) * 8};
      return tensor_map<T, 2>(x.as<T>(), {cols, rows}, strides, {kCols, kRows}, Swizzle::none);
    };
    const std::int64_t across = ceil_div(cols, kCols), boxes = across * ceil_div(rows, kRows);
    const auto blocks = static_cast<unsigned>(std::min<std::int64_t>(boxes, multiprocessors()));
    launch(boxes_in_out<T>,
           {.grid = dim3(blocks), .block = dim3(kThreads), .shared_bytes = 3 * kStages * kBox * sizeof(T) + kStages * 8}, l.stream,
           map(a.gate), map(a.up), map(a.y), across, boxes);
  });
}

}  // namespace assay::ROOM(silu_mul, boxes_in_out)
