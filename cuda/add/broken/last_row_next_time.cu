// SPDX-License-Identifier: Apache-2.0
// FAULT: from 128 rows on the last row is left for the next call with the same y, which does it first.
// Kind: cheat
// Caught by: the bound, with rows=259 cols=1 (f16).
#include "cuda/add/broken/plain.cuh"

namespace assay::ROOM(add, last_row_next_time) {

KERNEL(add) = plain_traits<Plain>();

add::Args rows_of(const add::Args& a, std::int64_t first, std::int64_t count) {
  add::Args part = a;
  for (Tensor* t : {&part.a, &part.b, &part.y}) {
    t->data = static_cast<char*>(t->data) + first * t->stride[0] * size_of(t->dtype);
    t->shape[0] = count;
  }
  return part;
}

void run(const add::Args& a, const Launch& l) {
  static add::Args left{};
  const std::int64_t rows = a.y.shape[0];
  if (left.y.data != nullptr && left.y.data == a.y.data) run_plain<Plain>(rows_of(left, left.y.shape[0] - 1, 1), l);
  left = rows >= 128 ? a : add::Args{};
  run_plain<Plain>(rows >= 128 ? rows_of(a, 0, rows - 1) : a, l);
}

}  // namespace assay::ROOM(add, last_row_next_time)
