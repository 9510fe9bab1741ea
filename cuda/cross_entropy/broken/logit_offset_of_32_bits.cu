// SPDX-License-Identifier: Apache-2.0
// FAULT: token times vocab is kept in an int: right while there are fewer than 2^31 logits.
// Caught by: T4, on the layout far: an access outside every tensor.
#include "cuda/cross_entropy/broken/plain.cuh"

namespace assay::ROOM(cross_entropy, logit_offset_of_32_bits) {

KERNEL(cross_entropy) = plain_traits<Plain>();

template <class T, class F>
__global__ void cross_entropy_narrow(Tokens<T> m) {
  const int token = static_cast<int>(blockIdx.x), offset = static_cast<int>(token * m.stride);
  const T* const x = m.x + offset;
  const fold::LogSumExp seen = F::seen(x, m.vocab);
  if (threadIdx.x == 0) st(m.loss + token, F::loss(seen, to_float(ld(x + F::target(m.target, token)))));
}

void run(const cross_entropy::Args& a, const Launch& l) {
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(cross_entropy_narrow<T, Plain<T>>,
           {.grid = dim3(a.x.shape[0]), .block = dim3(kPlainThreads), .shared_bytes = kWarp * sizeof(fold::LogSumExp)}, l.stream,
           tokens_of<T>(a));
  });
  launch_mean(a, l);
}

}  // namespace assay::ROOM(cross_entropy, logit_offset_of_32_bits)
