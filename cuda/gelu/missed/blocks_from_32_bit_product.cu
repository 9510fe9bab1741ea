// SPDX-License-Identifier: Apache-2.0
// FAULT: the number of elements is an unsigned product of 32 bits: from 2^32 on the grid covers what is left beyond a multiple
// of it.
// Kind: offset
// Caught by: nothing yet
#include "cuda/gelu/broken/plain.cuh"

namespace assay::ROOM(gelu, blocks_from_32_bit_product) {

KERNEL(gelu) = plain_traits();

void run(const gelu::Args& a, const Launch& l) {
  const auto rows = static_cast<unsigned>(a.x.shape[0]), cols = static_cast<unsigned>(a.x.shape[1]);
  const unsigned elements = rows * cols;
  if (elements == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(gelu_plain<T>, {.grid = dim3(ceil_div(elements, kPlainThreads)), .block = dim3(kPlainThreads)}, l.stream, a.x.as<T>(),
           a.y.as<T>(), rows, cols, a.x.stride[0], a.y.stride[0], a.form == Activation::gelu_erf);
  });
}

}  // namespace assay::ROOM(gelu, blocks_from_32_bit_product)
