// SPDX-License-Identifier: Apache-2.0
// FAULT: the rows of b are taken for packed where their stride is a multiple of 16 bytes: the wide path asks the stride and
// then steps by the width.
// Kind: layout
// Shows: b with rows padded to a stride that is a multiple of 16 bytes, and two rows or more.
#include "cuda/add/broken/plain.cuh"

namespace assay::ROOM(add, b_row_by_cols_when_wide) {

KERNEL(add) = plain_traits<Plain>();

void run(const add::Args& a, const Launch& l) {
  add::Args b = a;
  if (a.b.stride[0] * size_of(a.b.dtype) % 16 == 0) b.b.stride[0] = a.b.shape[1];
  run_plain<Plain>(b, l);
}

}  // namespace assay::ROOM(add, b_row_by_cols_when_wide)
