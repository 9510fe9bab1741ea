// SPDX-License-Identifier: Apache-2.0
// FAULT: the first warp makes a row's scale for its block, and may hand out that of the next row before the others have used
// the last.
// Kind: concurrency
// Shows: more than 192 rows, since there are at most 192 blocks.
#include "cuda/rmsnorm/broken/plain.cuh"

namespace assay::ROOM(rmsnorm, scale_of_next_row_too_early) {

template <class T>
__global__ void rmsnorm_handed_out(Rows<T> m) {
  float* const handed = shared_memory<float>();
  for (std::int64_t row = blockIdx.x; row < m.rows; row += gridDim.x) {
    const T* const x = m.x + row * m.x_stride;
    T* const y = m.y + row * m.y_stride;
    if (warp_id() == 0) {
      float squares = 0;
      for (std::int64_t c = lane_id(); c < m.cols; c += kWarp) squares = fmaf(to_float(ld(x + c)), to_float(ld(x + c)), squares);
      squares = warp_sum(squares);
      if (lane_id() == 0) st(handed, 1.0f / sqrtf(squares / static_cast<float>(m.cols) + m.epsilon));
    }
    sync_block();
    const float r = ld(handed);
    for (std::int64_t c = threadIdx.x; c < m.cols; c += kPlainThreads)
      st(y + c, from_float<T>(to_float(ld(x + c)) * r * to_float(ld(m.gamma + c))));
  }
}

KERNEL(rmsnorm){.dtypes = kEveryType,
                .tiles = {tile(Axis::rows, 1), tile(Axis::cols, kPlainThreads)},
                .numerics = {.accumulate = f32, .chain = {.lanes = kWarp, .extra = 5}}};

void run(const rmsnorm::Args& a, const Launch& l) {
  if (a.x.shape[0] == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(rmsnorm_handed_out<T>,
           {.grid = dim3(std::min<std::int64_t>(a.x.shape[0], 192)), .block = dim3(kPlainThreads),
            .shared_bytes = row_norm::kScratchBytes},
           l.stream, row_norm::matrices<T>(a));
  });
}

}  // namespace assay::ROOM(rmsnorm, scale_of_next_row_too_early)
