// SPDX-License-Identifier: Apache-2.0
// FAULT: the grid is a static of the launcher, made from the rows of the first call: a later call with more rows leaves the
// rest.
// Kind: earlier_calls
// Caught by: the exact probes, with fill=probe_uniform (f16).
#include "cuda/softmax/broken/plain.cuh"

namespace assay::ROOM(softmax, grid_of_first_call) {

KERNEL(softmax) = plain_traits<Plain>();

std::int64_t blocks_for(std::int64_t rows) {
  static const std::int64_t blocks = rows;
  return blocks;
}

void run(const softmax::Args& a, const Launch& l) {
  if (a.x.shape[0] == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(softmax_plain<T, Plain<T>>,
           {.grid = dim3(blocks_for(a.x.shape[0])), .block = dim3(kPlainThreads), .shared_bytes = Plain<T>::kSharedBytes},
           l.stream, Matrices<T>{a.x.as<T>(), a.y.as<T>(), a.x.shape[0], a.x.shape[1], a.x.stride[0], a.y.stride[0]});
  });
}

}  // namespace assay::ROOM(softmax, grid_of_first_call)
