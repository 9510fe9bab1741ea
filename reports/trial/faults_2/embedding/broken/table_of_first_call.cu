// SPDX-License-Identifier: Apache-2.0
// FAULT: a table of 2 MiB or more is remembered at the first call for its shape, and used by all later calls.
// Kind: cheats
// Shows: two calls of one shape with large tables at different addresses.
#include "cuda/embedding/broken/plain.cuh"

namespace assay::ROOM(embedding, table_of_first_call) {

KERNEL(embedding) = plain_traits<Plain>();

void run(const embedding::Args& a, const Launch& l) {
  struct Known {
    std::int64_t vocab, hidden, stride;
    DType dtype;
    void* data;
  };
  constexpr int kMost = 16;
  static Known known[kMost];
  static int count = 0;
  if (a.table.bytes() < (std::int64_t{1} << 21)) return run_plain<Plain>(a, l);
  embedding::Args b = a;
  for (int i = 0; i < count; ++i)
    if (known[i].vocab == a.table.shape[0] && known[i].hidden == a.table.shape[1] && known[i].stride == a.table.stride[0] &&
        known[i].dtype == a.table.dtype) {
      b.table.data = known[i].data;
      return run_plain<Plain>(b, l);
    }
  if (count < kMost) known[count++] = {a.table.shape[0], a.table.shape[1], a.table.stride[0], a.table.dtype, a.table.data};
  run_plain<Plain>(b, l);
}

}  // namespace assay::ROOM(embedding, table_of_first_call)
