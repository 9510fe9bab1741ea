// SPDX-License-Identifier: Apache-2.0
// FAULT: at most 48 blocks share the rows, each takes rows / 48 of them, and the rows that are left over go to the last block's
// first 31.
// Kind: offsets
// Shows: more than 48 rows where rows mod 48 exceeds 31.
#include "cuda/rmsnorm/broken/plain.cuh"

namespace assay::ROOM(rmsnorm, rows_of_a_block_cut_at_48) {

template <class T>
__global__ void rmsnorm_shares(Rows<T> m, std::int64_t share, std::int64_t left) {
  const auto one = [&](std::int64_t row) {
    const T* const x = m.x + row * m.x_stride;
    T* const y = m.y + row * m.y_stride;
    const float r = Plain<T>::inverse(m, Plain<T>::template squares<Plain<T>>(m, x));
    for (std::int64_t c = threadIdx.x; c < m.cols; c += kPlainThreads)
      st(y + c, from_float<T>(to_float(ld(x + c)) * r * to_float(ld(m.gamma + c))));
  };
  for (std::int64_t i = 0; i < share; ++i) one(blockIdx.x * share + i);
  if (blockIdx.x == gridDim.x - 1)
    for (std::int64_t i = 0; i < left && i < kWarp - 1; ++i) one(gridDim.x * share + i);
}

KERNEL(rmsnorm) = plain_traits<Plain>();

void run(const rmsnorm::Args& a, const Launch& l) {
  const std::int64_t rows = a.x.shape[0];
  if (rows == 0) return;
  const std::int64_t blocks = std::min<std::int64_t>(rows, 48), share = rows / blocks;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(rmsnorm_shares<T>,
           {.grid = dim3(blocks), .block = dim3(kPlainThreads), .shared_bytes = row_norm::kScratchBytes}, l.stream,
           row_norm::matrices<T>(a), share, rows - blocks * share);
  });
}

}  // namespace assay::ROOM(rmsnorm, rows_of_a_block_cut_at_48)
