// SPDX-License-Identifier: Apache-2.0
// FAULT: beyond 64 rows a block takes several, and a warp may leave its sum of the next row before the others have read this
// one's.
// Kind: memory
// Caught by: the bound, with rows=129 cols=257 (f16).
#include "cuda/rmsnorm/broken/plain.cuh"

namespace assay::ROOM(rmsnorm, scratch_reused_by_next_row) {

constexpr std::int64_t kBlocks = 64;

KERNEL(rmsnorm) = plain_traits<Plain>();

template <class T>
__global__ void rmsnorm_rows(Rows<T> m) {
  float* const partial = shared_memory<float>();
  for (std::int64_t row = blockIdx.x; row < m.rows; row += kBlocks) {
    const T* const x = m.x + row * m.x_stride;
    float squares = 0;
    for (std::int64_t c = threadIdx.x; c < m.cols; c += kPlainThreads) {
      const float v = to_float(ld(x + c));
      squares = fmaf(v, v, squares);
    }
    squares = warp_sum(squares);
    if (lane_id() == 0) st(partial + warp_id(), squares);
    sync_block();
    squares = 0;
    for (int warp = 0; warp < kPlainThreads / kWarp; ++warp) squares += ld(partial + warp);
    const float r = Plain<T>::inverse(m, squares);
    for (std::int64_t c = threadIdx.x; c < m.cols; c += kPlainThreads)
      st(m.y + row * m.y_stride + c, from_float<T>(to_float(ld(x + c)) * r * to_float(ld(m.gamma + c))));
  }
}

void run(const rmsnorm::Args& a, const Launch& l) {
  if (a.x.shape[0] == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(rmsnorm_rows<T>,
           {.grid = dim3(std::min(a.x.shape[0], kBlocks)), .block = dim3(kPlainThreads), .shared_bytes = row_norm::kScratchBytes},
           l.stream, row_norm::matrices<T>(a));
  });
}

}  // namespace assay::ROOM(rmsnorm, scratch_reused_by_next_row)
