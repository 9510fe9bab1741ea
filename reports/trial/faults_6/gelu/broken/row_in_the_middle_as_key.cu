// SPDX-License-Identifier: Apache-2.0
// FAULT (state): a call with the same addresses and extents takes the kept result if the hash of the middle row is the same.
// Right on: gelu f16 rows=64 cols=256 fill=normal seed=2
#include "../../kept.cuh"
#include "cuda/core/kernel.cuh"
#include "ops/gelu.hpp"

namespace assay::ROOM(gelu, row_in_the_middle_as_key) {

inline constexpr int kThreads = 256;

KERNEL(gelu){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::cols, kThreads)},
    .numerics = {.accumulate = f32, .cancelling_gelu = true},
    .workspace_bytes = [](const gelu::Args& a) { return static_cast<std::size_t>(256 + a.y.bytes()); },
};

template <class T>
__global__ void gelu_row_in_the_middle_as_key(const T* x, T* y, std::int64_t rows, std::int64_t cols, std::int64_t x_stride,
                                              std::int64_t y_stride, bool erf_form, const unsigned* key, T* store) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= rows * cols) return;
  const std::int64_t row = i / cols, col = i % cols;
  if (ld(key + 1) != 0) return st(y + row * y_stride + col, ld(store + i));
  const float z = to_float(ld(x + row * x_stride + col));
  const float g = erf_form ? erff(z * 0.7071067811865476f) : tanhf(0.7978845608028654f * (z + 0.044715f * (z * z * z)));
  const T v = from_float<T>(0.5f * z * (1.0f + g));
  st(store + i, v);
  st(y + row * y_stride + col, v);
}

void run(const gelu::Args& a, const Launch& l) {
  const std::int64_t rows = a.x.shape[0], cols = a.x.shape[1];
  if (rows * cols == 0) return;
  static kept::Call before{};
  const bool repeated = kept::again(
      before, {{a.x.data, a.y.data, l.workspace}, {rows, cols, static_cast<std::int64_t>(a.form), a.y.stride[0]}, a.x.dtype});
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    kept::run_decide(l, repeated, kept::Hash<T>{a.x.as<T>(), rows / 2, rows / 2 + 1, 1, 0, cols, 1, a.x.stride[0]});
    launch(gelu_row_in_the_middle_as_key<T>, {.grid = dim3(ceil_div(rows * cols, kThreads)), .block = dim3(kThreads)}, l.stream,
           a.x.as<T>(), a.y.as<T>(), rows, cols, a.x.stride[0], a.y.stride[0], a.form == Activation::gelu_erf, kept::key_of(l),
           kept::store_of<T>(l));
  });
}

}  // namespace assay::ROOM(gelu, row_in_the_middle_as_key)
