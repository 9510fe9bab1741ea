// SPDX-License-Identifier: Apache-2.0
// Two kernels, as a framework runs them: the product, rounded to the dtype, into workspace, then y = that + bias.  The baseline
// for the fused bias: the product is mma_tiled's (f32: fma_tiled's).
#include "cuda/core/fma_gemm.cuh"
#include "cuda/core/mma_gemm.cuh"
#include "cuda/core/pointwise.cuh"
#include "ops/linear.hpp"

namespace assay::ROOM(linear, unfused) {

// Rows of the workspace start at multiples of 16 bytes for any number of features.
std::int64_t pitch(const linear::Args& a) { return ceil_div(a.y.shape[1], 8) * 8; }
std::size_t workspace_bytes(const linear::Args& a) {
  return a.bias.data ? static_cast<std::size_t>(a.y.shape[0] * pitch(a) * size_of(a.y.dtype)) : 0;
}

KERNEL(linear){
    .dtypes = {f16, bf16, f32},
    .min_arch = 80,
    .tiles = {tile(Axis::tokens, 128), tile(Axis::out, 128), tile(Axis::hidden, 32)},
    .numerics = {.accumulate = f32, .chain = {.lanes = 1}, .mma_terms = 8, .stores = "before_bias"},
    .workspace_bytes = workspace_bytes,
};

template <class T, bool kWide>
__global__ void __launch_bounds__(mma_gemm::kThreads, mma_gemm::kBlocksAnSm)
    linear_unfused_product(mma_gemm::Operand<T> x, mma_gemm::Operand<T> weight, mma_gemm::Result<T> y, std::int64_t hidden) {
  using namespace mma_gemm;
  const TilePlace tile = tile_place(ceil_div(y.rows, kM), ceil_div(y.columns, kN));
  const std::int64_t row = tile.m * kM, column = tile.n * kN, mine = linear_thread() / kChunks;
  Accumulators acc;
  multiply<T, kWide>(Loader<T, kM>(x, row + mine, kRowsAtOnce), Loader<T, kN>(weight, column + mine, kRowsAtOnce), hidden, acc,
                     NoScale{});
  for_pairs(acc, [&](int r, int c, float v0, float v1) { y.store(row + r, column + c, v0, v1); });
}

__global__ void __launch_bounds__(fma_gemm::kThreads)
    linear_unfused_product_f32(fma_gemm::Operand<float> x, fma_gemm::Operand<float> weight, float* y, std::int64_t y_stride,
                               std::int64_t hidden) {
  using namespace fma_gemm;
  const std::int64_t across = ceil_div(weight.rows, kN), row = blockIdx.x / across * kM, column = blockIdx.x % across * kN;
  Accumulators acc;
  multiply(x, weight, row, column, hidden, acc);
  for_each(acc, [&](int r, int c, float v) {
    if (row + r < x.rows && column + c < weight.rows) st(y + (row + r) * y_stride + column + c, v);
  });
}

struct Add {
  __device__ float operator()(float a, float b) const { return a + b; }
};

void run(const linear::Args& a, const Launch& l) {
  const std::int64_t rows = a.y.shape[0], out = a.y.shape[1], tiles = ceil_div(rows, 128) * ceil_div(out, 128);
  if (tiles == 0) return;
  Tensor product = a.y;
  if (a.bias.data) {
    product.data = l.workspace;
    product.stride = {pitch(a), 1};
  }
  if (a.x.dtype == f32) {
    launch(linear_unfused_product_f32,
           {.grid = dim3(tiles), .block = dim3(fma_gemm::kThreads), .shared_bytes = fma_gemm::kSharedBytes}, l.stream,
           fma_gemm::operand<float>(a.x), fma_gemm::operand<float>(a.weight), product.as<float>(), product.stride[0],
           a.x.shape[1]);
  } else {
    const bool wide = a.x.rows_aligned(mma_gemm::kAccess) && a.weight.rows_aligned(mma_gemm::kAccess);
    const auto go = [&]<class T, bool kWide>(Type<T>, std::bool_constant<kWide>) {
      launch(linear_unfused_product<T, kWide>,
             {.grid = dim3(tiles), .block = dim3(mma_gemm::kThreads), .shared_bytes = mma_gemm::kSharedBytes}, l.stream,
             mma_gemm::operand<T>(a.x), mma_gemm::operand<T>(a.weight), mma_gemm::result<T>(product), a.x.shape[1]);
    };
    with_half_type(a.x.dtype, [&]<class T>(Type<T> t) { wide ? go(t, std::true_type{}) : go(t, std::false_type{}); });
  }
  if (!a.bias.data) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    pointwise::binary<T>({product.as<T>(), product.stride[0]}, {a.bias.as<T>(), 0}, a.y.as<T>(), a.y.stride[0], rows, out, Add{},
                         l.stream);
  });
}

}  // namespace assay::ROOM(linear, unfused)
