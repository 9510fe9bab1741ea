// SPDX-License-Identifier: Apache-2.0
// One block a row, any number of columns.  Up to 32,768 (unaligned: 16,384) the row stays in registers as floats: each byte
// moved once, each exp taken once.  Beyond, online: one pass keeps a maximum and a sum in each thread, the sum rescaled when a
// batch of 32 columns raises the maximum; the row is read again, from L2 if it kept it, for the output.
// 16-byte accesses when every row starts aligned, whatever its length; else element by element.
#include "cuda/softmax/row.cuh"

namespace assay::ROOM(softmax, block_row) {

inline constexpr int kHeld = 32;  // columns a thread
// Note: element by element there are eight times the addresses, which 64 registers do not hold beside the columns.
template <int N>
inline constexpr int kMostThreads = N == 1 ? 512 : 1024;
template <int N>
inline constexpr std::int64_t kMostHeld = kHeld * kMostThreads<N>;

KERNEL(softmax){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::rows, 1), tile_bytes(Axis::cols, kWarp* kAccess)},  // columns: what one warp takes at once
    // A batch: 3 + 3 additions.  The tail: 1; a batch more in the online sum: 1; the block: 10.
    .numerics = {.accumulate = f32,
                 .chain = {.lanes = kMostHeld<1>, .extra = 6 + 1 + 10},
                 .flushes_subnormals = true,
                 .rescales = {.lanes = kMostHeld<1>, .extra = 1}},  // one a batch but the first, the tail's, the block's
};

template <class T, int N>
__global__ void __launch_bounds__(kMostThreads<N>) softmax_block_row_held(Matrices<T> m) {
  float* const scratch = shared_memory<float>();
  softmax_held<T, N, kHeld>(
      m, blockIdx.x, threadIdx.x, blockDim.x, [&](float v) { return block_max(v, scratch); },
      [&](float v) { return block_sum(v, scratch); });
}

// A maximum and the sum of exp(x - max) over what was seen.  Note: nothing but -inf seen, the difference to the maximum would
// be NaN; such a sum is 0, and the row is NaN in the end only if that is all it holds.
template <class T>
struct Online {
  float max = -INFINITY, sum = 0;
  __device__ static float anchor(float max) { return max == -INFINITY ? 0.0f : max; }
  // The sum as of a larger maximum.
  __device__ float rescaled(float larger) const { return sum * exponential<T>(max - anchor(larger)); }
  template <int V>
  __device__ void add(float (&v)[V]) {
    const float larger = fmaxf(max, max_of(v));
    const float at = anchor(larger);
#pragma unroll
    for (int i = 0; i < V; ++i) v[i] = exponential<T>(v[i] - at);
    sum = rescaled(larger) + sum_of(v);
    max = larger;
  }
  __device__ void add(float v) {
    const float larger = fmaxf(max, v);
    sum = rescaled(larger) + exponential<T>(v - anchor(larger));
    max = larger;
  }
};

template <class T, int N>
__global__ void __launch_bounds__(kMostThreads<N>) softmax_block_row_online(Matrices<T> m) {
  float* const scratch = shared_memory<float>();
  const T* const x = m.x + blockIdx.x * m.x_stride;
  T* const y = m.y + blockIdx.x * m.y_stride;
  const int thread = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x);
  const std::int64_t packs = m.cols / N, tail = tail_column<N>(m.cols, thread);

  // Maximum and sum.
  Online<T> seen;
  float v[kHeld];
  each_batch<N, kHeld>(packs, threads, [&](std::int64_t first, int left) {
    load_batch<T, N>(v, x + first, left, thread, threads);
    seen.add(v);
  });
  if (tail < m.cols) seen.add(to_float(ld(x + tail)));
  const float max = block_max(seen.max, scratch);
  const float r = 1.0f / block_sum(seen.rescaled(max), scratch);

  // Output.
  each_batch<N, kHeld>(packs, threads, [&](std::int64_t first, int left) {
    load_batch<T, N>(v, x + first, left, thread, threads);
#pragma unroll
    for (int i = 0; i < kHeld; ++i) v[i] = exponential<T>(v[i] - max) * r;
    store_batch<T, N>(y + first, v, left, thread, threads);
  });
  if (tail < m.cols) st(y + tail, from_float<T>(exponential<T>(to_float(ld(x + tail)) - max) * r));
}

template <class T, int N>
void run_width(const Matrices<T>& m, const Launch& l) {
  const int warps = static_cast<int>(std::clamp<std::int64_t>(ceil_div(m.cols, kHeld * kWarp), 1, kMostThreads<N> / kWarp));
  launch(m.cols <= kMostHeld<N> ? softmax_block_row_held<T, N> : softmax_block_row_online<T, N>,
         {.grid = dim3(m.rows), .block = dim3(warps * kWarp), .shared_bytes = kWarp * sizeof(float)}, l.stream, m);
}

void run(const softmax::Args& a, const Launch& l) {
  if (a.x.shape[0] == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    wide(a) ? run_width<T, kPerAccess<T>>(matrices<T>(a), l) : run_width<T, 1>(matrices<T>(a), l);
  });
}

}  // namespace assay::ROOM(softmax, block_row)
