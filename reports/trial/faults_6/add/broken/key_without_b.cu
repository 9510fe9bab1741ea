// SPDX-License-Identifier: Apache-2.0
// FAULT (state): a call with the same addresses and extents takes the kept result if the hash of all of a is the same; b is
// taken for constant.
// Right on: add f16 rows=64 cols=256 fill=normal seed=2
#include "../../kept.cuh"
#include "cuda/core/kernel.cuh"
#include "ops/add.hpp"

namespace assay::ROOM(add, key_without_b) {

inline constexpr int kThreads = 256;

KERNEL(add){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::cols, kThreads)},
    .numerics = {.accumulate = f32},
    .workspace_bytes = [](const add::Args& a) { return static_cast<std::size_t>(256 + a.y.bytes()); },
};

template <class T>
__global__ void add_key_without_b(const T* a, const T* b, T* y, std::int64_t rows, std::int64_t cols, std::int64_t a_stride,
                                  std::int64_t b_stride, std::int64_t y_stride, const unsigned* key, T* store) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= rows * cols) return;
  const std::int64_t row = i / cols, col = i % cols;
  if (ld(key + 1) != 0) return st(y + row * y_stride + col, ld(store + i));
  const T v = from_float<T>(to_float(ld(a + row * a_stride + col)) + to_float(ld(b + row * b_stride + col)));
  st(store + i, v);
  st(y + row * y_stride + col, v);
}

void run(const add::Args& a, const Launch& l) {
  const std::int64_t rows = a.y.shape[0], cols = a.y.shape[1];
  if (rows * cols == 0) return;
  static kept::Call before{};
  const bool repeated =
      kept::again(before, {{a.a.data, a.b.data, a.y.data, l.workspace}, {rows, cols, a.a.stride[0], a.y.stride[0]}, a.y.dtype});
  with_type(a.y.dtype, [&]<class T>(Type<T>) {
    kept::run_decide(l, repeated, kept::Hash<T>{a.a.as<T>(), 0, rows, 1, 0, cols, 1, a.a.stride[0]});
    launch(add_key_without_b<T>, {.grid = dim3(ceil_div(rows * cols, kThreads)), .block = dim3(kThreads)}, l.stream, a.a.as<T>(),
           a.b.as<T>(), a.y.as<T>(), rows, cols, a.a.stride[0], a.b.stride[0], a.y.stride[0], kept::key_of(l),
           kept::store_of<T>(l));
  });
}

}  // namespace assay::ROOM(add, key_without_b)
