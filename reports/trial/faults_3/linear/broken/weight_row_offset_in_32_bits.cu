// SPDX-License-Identifier: Apache-2.0
// FAULT: the offset of a weight's row is computed in 32 bits.
// Kind: offsets
// Shows: weights of more than 2^31 elements, with their padding.
#include "cuda/linear/broken/plain.cuh"

namespace assay::ROOM(linear, weight_row_offset_in_32_bits) {

template <class T>
__global__ void linear_short_offsets(Operands<T> p) {
  const int token = static_cast<int>(blockIdx.x), o = static_cast<int>(blockIdx.y * kPlainThreads + threadIdx.x);
  if (o >= p.out) return;
  const unsigned row = static_cast<unsigned>(o) * static_cast<unsigned>(p.weight_stride);
  const T* const w = p.weight + static_cast<int>(row);
  float sum = 0;
  for (std::int64_t h = 0; h < p.hidden; ++h) sum = fmaf(p.x_at(token, h), to_float(ld(w + h)), sum);
  st(p.y + token * p.y_stride + o, from_float<T>(p.bias != nullptr ? sum + p.bias_at(o) : sum));
}

KERNEL(linear) = plain_traits<Plain>();

void run(const linear::Args& a, const Launch& l) {
  if (a.y.size() == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    const Operands<T> p = operands_of<T>(a, l);
    launch(linear_short_offsets<T>, {.grid = dim3(p.tokens, ceil_div(p.out, kPlainThreads)), .block = dim3(kPlainThreads)},
           l.stream, p);
  });
}

}  // namespace assay::ROOM(linear, weight_row_offset_in_32_bits)
