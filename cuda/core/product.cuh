// SPDX-License-Identifier: Apache-2.0
// y = x w^T (+ bias) as one launch, for unfused kernels: by tensor cores for 16-bit elements (mma_gemm.cuh), in f32 arithmetic
// for f32 (fma_gemm.cuh).
#pragma once

#include "cuda/core/fma_gemm.cuh"
#include "cuda/core/mma_gemm.cuh"

namespace assay::ASSAY_FLAVOUR::product {

inline constexpr int kM = mma_gemm::kM, kN = mma_gemm::kN, kK = mma_gemm::kK;
static_assert(kM == fma_gemm::kM && kN == fma_gemm::kN);

template <class T, bool kWide>
__global__ void __launch_bounds__(mma_gemm::kThreads, mma_gemm::kBlocksAnSm)
    product_mma(mma_gemm::Operand<T> x, mma_gemm::Operand<T> w, const T* bias, mma_gemm::Result<T> y, std::int64_t inner) {
  using namespace mma_gemm;
  const TilePlace tile = tile_place(ceil_div(y.rows, kM), ceil_div(y.columns, kN));
  const std::int64_t row = tile.m * kM, column = tile.n * kN, mine = linear_thread() / kChunks;
  Accumulators acc;
  multiply<T, kWide>(Loader<T, kM>(x, row + mine, kRowsAtOnce), Loader<T, kN>(w, column + mine, kRowsAtOnce), inner, acc,
                     NoScale{});
  for_pairs(acc, [&](int r, int c, float v0, float v1) {
    const std::int64_t o = column + c;
    if (bias != nullptr && o < y.columns) v0 += to_float(ld(bias + o));
    if (bias != nullptr && o + 1 < y.columns) v1 += to_float(ld(bias + o + 1));
    y.store(row + r, o, v0, v1);
  });
}

template <class T>
__global__ void __launch_bounds__(fma_gemm::kThreads)
    product_fma(fma_gemm::Operand<T> x, fma_gemm::Operand<T> w, const T* bias, T* y, std::int64_t y_stride, std::int64_t inner) {
  using namespace fma_gemm;
  const std::int64_t across = ceil_div(w.rows, kN), row = blockIdx.x / across * kM, column = blockIdx.x % across * kN;
  Accumulators acc;
  multiply(x, w, row, column, inner, acc);
  for_each(acc, [&](int r, int c, float v) {
    const std::int64_t t = row + r, o = column + c;
    if (t >= x.rows || o >= w.rows) return;
    st(y + t * y_stride + o, from_float<T>(bias != nullptr ? v + to_float(ld(bias + o)) : v));
  });
}

// Row length of a matrix in workspace, in elements, so that rows start at multiples of 16 bytes.
inline std::int64_t pitch(std::int64_t columns) { return ceil_div(columns, 8) * 8; }
inline std::size_t workspace_bytes(std::int64_t rows, std::int64_t columns, DType t) {
  return static_cast<std::size_t>(rows * pitch(columns) * size_of(t));
}
inline Tensor in_workspace(void* data, DType t, std::int64_t rows, std::int64_t columns) {
  return {.data = data, .dtype = t, .rank = 2, .shape = {rows, columns}, .stride = {pitch(columns), 1}};
}

// x [m, inner], w [n, inner], y [m, n], bias [n] or without data.
inline void run(const Tensor& x, const Tensor& w, const Tensor& bias, const Tensor& y, void* stream) {
  const std::int64_t tiles = ceil_div(y.shape[0], kM) * ceil_div(y.shape[1], kN), inner = x.shape[1];
  if (tiles == 0) return;
  if (x.dtype == f32) {
    launch(product_fma<float>, {.grid = dim3(tiles), .block = dim3(fma_gemm::kThreads), .shared_bytes = fma_gemm::kSharedBytes},
           stream, fma_gemm::operand<float>(x), fma_gemm::operand<float>(w), bias.as<float>(), y.as<float>(), y.stride[0], inner);
    return;
  }
  const bool wide = x.rows_aligned(mma_gemm::kAccess) && w.rows_aligned(mma_gemm::kAccess);
  const auto go = [&]<class T, bool kWide>(Type<T>, std::bool_constant<kWide>) {
    launch(product_mma<T, kWide>,
           {.grid = dim3(tiles), .block = dim3(mma_gemm::kThreads), .shared_bytes = mma_gemm::kSharedBytes}, stream,
           mma_gemm::operand<T>(x), mma_gemm::operand<T>(w), bias.as<T>(), mma_gemm::result<T>(y), inner);
  };
  with_half_type(x.dtype, [&]<class T>(Type<T> t) { wide ? go(t, std::true_type{}) : go(t, std::false_type{}); });
}

}  // namespace assay::ASSAY_FLAVOUR::product
