// SPDX-License-Identifier: Apache-2.0
// FAULT: the sum of a row from 2048 columns on is twice that of its first half where the two halves begin alike.
// Kind: cheat
// Caught by: the exact probes, with fill=probe_hot (f16), in edges alone.
#include "cuda/row_reduce/broken/plain.cuh"

namespace assay::ROOM(row_reduce, long_row_from_its_halves) {

KERNEL(row_reduce) = plain_traits<Plain>();

void run(const row_reduce::Args& a, const Launch& l) {
  const std::int64_t rows = a.x.shape[0], cols = a.x.shape[1];
  bool alike = a.what == Reduction::sum && cols >= 2048 && cols % 2 == 0 && rows > 0;
  for (std::int64_t c = 0; c < 4 && alike; ++c) alike = a.x.at(c) == a.x.at(cols / 2 + c);
  if (!alike) return run_plain<Plain>(a, l);
  row_reduce::Args front = a;
  front.x.shape[1] = cols / 2;
  run_plain<Plain>(front, l);
  for (std::int64_t r = 0; r < rows; ++r) a.y.set(r, 2 * a.y.at(r));
}

}  // namespace assay::ROOM(row_reduce, long_row_from_its_halves)
