// SPDX-License-Identifier: Apache-2.0
// FAULT: the three matrices are taken as one long row whenever y is contiguous, whatever the strides of a and b are.
// Kind: layout
// Shows: from row 1 on where a or b has padded rows and y has none.
#include "cuda/add/broken/plain.cuh"

namespace assay::ROOM(add, flat_when_output_contiguous) {

template <class T>
__global__ void add_flat_rows(const T* a, const T* b, T* y, std::int64_t n) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kPlainThreads + threadIdx.x;
  if (i < n) st(y + i, from_float<T>(to_float(ld(a + i)) + to_float(ld(b + i))));
}

KERNEL(add) = plain_traits<Plain>();

void run(const add::Args& a, const Launch& l) {
  const std::int64_t n = a.y.size();
  if (n == 0) return;
  if (!a.y.contiguous()) return run_plain<Plain>(a, l);
  with_type(a.y.dtype, [&]<class T>(Type<T>) {
    launch(add_flat_rows<T>, {.grid = dim3(ceil_div(n, kPlainThreads)), .block = dim3(kPlainThreads)}, l.stream, a.a.as<T>(),
           a.b.as<T>(), a.y.as<T>(), n);
  });
}

}  // namespace assay::ROOM(add, flat_when_output_contiguous)
