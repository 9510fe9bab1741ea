// SPDX-License-Identifier: Apache-2.0
// FAULT: where rows are padded by fewer than 128 elements, as for a vocabulary rounded up, the padding is taken to hold -inf
// and is summed.
// Kind: layout
// Shows: logits with padded rows.
#include "cuda/cross_entropy/broken/plain.cuh"

namespace assay::ROOM(cross_entropy, padding_of_rows_counts) {

KERNEL(cross_entropy) = plain_traits<Plain>();

void run(const cross_entropy::Args& a, const Launch& l) {
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    Tokens<T> m = tokens_of<T>(a);
    if (m.tokens > 1 && m.stride > m.vocab && m.stride - m.vocab < 128) m.vocab = m.stride;
    launch(cross_entropy_plain<T, Plain<T>>,
           {.grid = dim3(a.x.shape[0]), .block = dim3(kPlainThreads), .shared_bytes = kWarp * sizeof(fold::LogSumExp)}, l.stream,
           m);
  });
  launch_mean(a, l);
}

}  // namespace assay::ROOM(cross_entropy, padding_of_rows_counts)
