// SPDX-License-Identifier: Apache-2.0
// One block per row, any number of columns, any layout.  Rows up to 64 KiB (8,192 columns if unaligned) stay in registers in the
// storage dtype, so x, residual, s and y are moved once; of longer rows s is written first and read again for each pass.  16-byte
// accesses if every row starts aligned, for any row length; else single elements.  With sum=f32 another kernel reads x and
// residual again for y, from L2 if they are still there.
#include "cuda/core/row_norm.cuh"
#include "ops/residual_rmsnorm.hpp"

namespace assay::ROOM(residual_rmsnorm, block_row) {

using namespace row_norm;

KERNEL(residual_rmsnorm){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::rows, 1), tile_bytes(Axis::cols, kWarp* kAccess)},  // columns: what one warp takes at once
    .numerics = {.accumulate = f32, .chain = kBlockChain},
};

template <class T, int N, bool kHeld>
__global__ void __launch_bounds__(kMostThreads<N>) residual_rmsnorm_block_row(Matrices<T, residual_rmsnorm::Args> m) {
  next_grid_may_start();
  by_block<N, kHeld>(m, blockIdx.x);
}

// v: the sum of two packs.
template <class T, int N>
__device__ inline void add_packs(float (&v)[N], const Raw<T, N>& x, const Raw<T, N>& residual) {
  float add[N];
  to_floats<T, N>(v, x);
  to_floats<T, N>(add, residual);
#pragma unroll
  for (int j = 0; j < N; ++j) v[j] += add[j];
}

// sum=f32.  Its chain of additions is that of read_again(), whose threads take the same packs.
template <class T, int N>
__global__ void __launch_bounds__(kMostThreads<N>) residual_rmsnorm_block_row_unrounded(Matrices<T, residual_rmsnorm::Args> m) {
  using Pack = Raw<T, N>;
  next_grid_may_start();
  wait_for_previous_grid();
  const Block block{shared_memory<float>()};
  const int thread = block.thread(), threads = block.threads();
  const std::int64_t row = blockIdx.x, packs = m.cols / N, tail = tail_column<N>(m.cols, thread);
  const T *const x = m.x + row * m.x_stride, *const residual = m.residual + row * m.residual_stride;
  T *const s = m.s + row * m.s_stride, *const y = m.y + row * m.y_stride;
  const auto pack_of = [](const T* from, std::int64_t p) { return ld(reinterpret_cast<const Pack*>(from) + p); };

  // s and the squares.
  const float last = tail < m.cols ? to_float(ld(x + tail)) + to_float(ld(residual + tail)) : 0.0f;
  if (tail < m.cols) st(s + tail, from_float<T>(last));
  float squares = last * last;
  each_pack<N, kBlockPacks<N>>(x, thread, packs, threads, [&](const Pack& pack, std::int64_t p) {
    float v[N];
    add_packs<T, N>(v, pack, pack_of(residual, p));
    st(reinterpret_cast<Vec<T, N>*>(s) + p, from_floats<T>(v));
#pragma unroll
    for (int j = 0; j < N; ++j) v[j] *= v[j];
    squares += pairwise_sum(v);
  });
  const Statistics by{.mean = 0, .r = inverse_deviation(m, squares, block)};

  // Output.
  each_pack<N, kBlockPacks<N>>(x, thread, packs, threads, [&](const Pack& pack, std::int64_t p) {
    float v[N], gamma[N];
    add_packs<T, N>(v, pack, pack_of(residual, p));
    to_floats<T, N>(gamma, pack_of(m.gamma, p));
#pragma unroll
    for (int j = 0; j < N; ++j) v[j] = v[j] * by.r * gamma[j];
    st(reinterpret_cast<Vec<T, N>*>(y) + p, from_floats<T>(v));
  });
  if (tail < m.cols) store_tail(m, y, tail, last, 0, by);
}

template <class T, int N>
void run_width(const residual_rmsnorm::Args& a, const Launch& l) {
  if (a.sum == NormedSum::in_f32) {
    constexpr auto* kernel = residual_rmsnorm_block_row_unrounded<T, N>;
    return launch_blocks<N>(kernel, kernel, matrices<T>(a), l.stream, l.after);
  }
  launch_blocks<N>(residual_rmsnorm_block_row<T, N, true>, residual_rmsnorm_block_row<T, N, false>, matrices<T>(a), l.stream,
                   l.after);
}

void run(const residual_rmsnorm::Args& a, const Launch& l) {
  if (a.x.shape[0] == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) { wide(a) ? run_width<T, kPerAccess<T>>(a, l) : run_width<T, 1>(a, l); });
}

}  // namespace assay::ROOM(residual_rmsnorm, block_row)
