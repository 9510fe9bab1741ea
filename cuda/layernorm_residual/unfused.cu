// SPDX-License-Identifier: Apache-2.0
// Two kernels, as a library would run them: the LayerNorm, rounded to the dtype, into workspace, then y = that + residual.  The
// baseline for the fused kernels, so each one is tuned: the LayerNorm is block_row's without the residual, the addition a
// grid-stride loop with several 16-byte accesses in flight.
#include "cuda/layernorm_residual/row.cuh"

namespace assay::ROOM(layernorm_residual, unfused) {

inline constexpr int kAddThreads = 256, kAddBatch = 4;

// Rows of the workspace start at multiples of 16 bytes for any number of columns.
std::int64_t pitch(const layernorm_residual::Args& a) {
  const std::int64_t width = kAccess / size_of(a.x.dtype);
  return ceil_div(a.x.shape[1], width) * width;
}

std::size_t workspace_bytes(const layernorm_residual::Args& a) {
  return static_cast<std::size_t>(a.x.shape[0] * pitch(a) * size_of(a.x.dtype));
}

KERNEL(layernorm_residual){
    .dtypes = {f16, bf16, f32},
    .min_arch = 80,  // needs its shared memory
    .tiles = {tile(Axis::rows, 1), tile_bytes(Axis::cols, kWarp* kAccess)},  // columns: what one warp takes at once
    .numerics = {.accumulate = f32, .chain = kBlockChain, .stores_intermediate = true},
    .workspace_bytes = workspace_bytes,
};

template <class T, int N>
__global__ void __launch_bounds__(kMaxThreads) layernorm_residual_unfused_layernorm(Matrices<T> m, std::int64_t staged) {
  normalise_row<T, N, false>(m, blockIdx.x, staged);
}

// Loads the N columns from `col` on, or those within the row.
template <class T, int N>
__device__ inline Raw<T, N> load_part(const T* row, std::int64_t col, std::int64_t cols) {
  if (col + N <= cols) return ld(reinterpret_cast<const Raw<T, N>*>(row + col));
  Vec<T, N> v{};
  for (int j = 0; j < N; ++j)
    if (col + j < cols) v[j] = ld(row + col + j);
  return __builtin_bit_cast(Raw<T, N>, v);
}

// m.x is the LayerNorm's result.
template <class T, int N>
__global__ void __launch_bounds__(kAddThreads) layernorm_residual_unfused_add(Matrices<T> m, std::int64_t packs_a_row) {
  const std::int64_t packs = m.rows * packs_a_row, stride = static_cast<std::int64_t>(gridDim.x) * kAddThreads;
  for (std::int64_t base = static_cast<std::int64_t>(blockIdx.x) * kAddThreads + threadIdx.x; base < packs;
       base += kAddBatch * stride) {
    Raw<T, N> normalised[kAddBatch], residual[kAddBatch];
#pragma unroll
    for (int i = 0; i < kAddBatch; ++i) {
      const std::int64_t p = base + i * stride, row = p / packs_a_row, col = p % packs_a_row * N;
      if (p >= packs) continue;
      normalised[i] = load_part<T, N>(m.x + row * m.x_stride, col, m.cols);
      residual[i] = load_part<T, N>(m.residual + row * m.residual_stride, col, m.cols);
    }
#pragma unroll
    for (int i = 0; i < kAddBatch; ++i) {
      const std::int64_t p = base + i * stride, row = p / packs_a_row, col = p % packs_a_row * N;
      if (p >= packs) continue;
      const Vec<T, N> a = elements<T, N>(normalised[i]), b = elements<T, N>(residual[i]);
      float v[N];
#pragma unroll
      for (int j = 0; j < N; ++j) v[j] = to_float(a[j]) + to_float(b[j]);
      const Vec<T, N> out = from_floats<T>(v);
      T* const y = m.y + row * m.y_stride + col;
      if (col + N <= m.cols)
        st(reinterpret_cast<Vec<T, N>*>(y), out);
      else
        for (int j = 0; j < N && col + j < m.cols; ++j) st(y + j, out[j]);
    }
  }
}

template <class T, int N>
void run_layernorm(const Matrices<T>& m, const Launch& l) {
  const BlockShape shape = block_shape<T, N>(m.cols);
  launch(layernorm_residual_unfused_layernorm<T, N>,
         {.grid = dim3(m.rows), .block = dim3(shape.threads), .shared_bytes = shape.shared_bytes}, l.stream, m, shape.staged);
}

template <class T, int N>
void run_add(const Matrices<T>& m, const Launch& l) {
  constexpr std::int64_t kMostBlocks = 1 << 20;  // more blocks are replaced by loop iterations
  const std::int64_t packs_a_row = ceil_div(m.cols, N), blocks = ceil_div(m.rows * packs_a_row, kAddThreads * kAddBatch);
  launch(layernorm_residual_unfused_add<T, N>, {.grid = dim3(std::min(blocks, kMostBlocks)), .block = dim3(kAddThreads)},
         l.stream, m, packs_a_row);
}

void run(const layernorm_residual::Args& a, const Launch& l) {
  if (a.x.shape[0] == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    constexpr int N = kPerAccess<T>;
    Matrices<T> m = matrices<T>(a);
    T* const y = m.y;
    m.y = static_cast<T*>(l.workspace), m.y_stride = pitch(a);
    a.x.rows_aligned(kAccess) && a.gamma.rows_aligned(kAccess) && a.beta.rows_aligned(kAccess) ? run_layernorm<T, N>(m, l)
                                                                                               : run_layernorm<T, 1>(m, l);
    m.x = m.y, m.x_stride = m.y_stride, m.y = y, m.y_stride = a.y.stride[0];
    a.residual.rows_aligned(kAccess) && a.y.rows_aligned(kAccess) ? run_add<T, N>(m, l) : run_add<T, 1>(m, l);
  });
}

}  // namespace assay::ROOM(layernorm_residual, unfused)
