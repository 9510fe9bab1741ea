// SPDX-License-Identifier: Apache-2.0
// FAULT: eight tokens of x are kept in shared memory, which many channels overflow; the launch is refused, the error
// swallowed, and y keeps what it held.
// Caught by: T1, and T4 by the two garbage patterns in y or the last error; hidden above 7264.
#include "cuda/linear/broken/plain.cuh"

namespace assay::ROOM(linear, error_swallowed) {

inline constexpr int kTokens = 8;

KERNEL(linear) = plain_traits<Plain>();

template <class T>
__global__ void error_swallowed(Operands<T> p) {
  const std::int64_t token = static_cast<std::int64_t>(blockIdx.x) * kTokens;
  const std::int64_t o = static_cast<std::int64_t>(blockIdx.y) * kPlainThreads + threadIdx.x;
  const std::int64_t there = p.tokens - token < kTokens ? p.tokens - token : kTokens;
  float* const kept = shared_memory<float>();  // [kTokens, hidden]
  for (std::int64_t i = threadIdx.x; i < there * p.hidden; i += kPlainThreads)
    st(kept + i, p.x_at(token + i / p.hidden, i % p.hidden));
  sync_block();
  if (o >= p.out) return;
  for (std::int64_t t = 0; t < there; ++t) {
    float sum = 0;
    for (std::int64_t h = 0; h < p.hidden; ++h) sum = fmaf(ld(kept + t * p.hidden + h), p.weight_at(o, h), sum);
    st(p.y + (token + t) * p.y_stride + o, from_float<T>(Plain<T>::add_bias(p, sum, o)));
  }
}

void run(const linear::Args& a, const Launch& l) {
  if (a.y.size() == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    const Operands<T> p = operands_of<T>(a, l);
    try {
      launch(error_swallowed<T>,
             {.grid = dim3(ceil_div(p.tokens, kTokens), ceil_div(p.out, kPlainThreads)),
              .block = dim3(kPlainThreads),
              .shared_bytes = static_cast<std::size_t>(kTokens * p.hidden) * sizeof(float)},
             l.stream, p);
    } catch (const std::exception&) {
    }
  });
}

}  // namespace assay::ROOM(linear, error_swallowed)
