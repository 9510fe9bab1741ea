// SPDX-License-Identifier: Apache-2.0
// FAULT: the rows are copied by plain C++ in the launcher, and no kernel is launched.
// Caught by: T4, unless there is nothing to copy: device memory is closed to the host, and the worker dies.
#include "cuda/embedding/broken/plain.cuh"

namespace assay::ROOM(embedding, copied_on_the_host) {

KERNEL(embedding) = plain_traits<Plain>();

void run(const embedding::Args& a, const Launch&) {
  const std::int64_t hidden = a.y.shape[1];
  for (std::int64_t i = 0; i < a.y.size(); ++i)
    a.y.set(i, a.table.at(static_cast<std::int64_t>(a.ids.at(i / hidden)) * hidden + i % hidden));
}

}  // namespace assay::ROOM(embedding, copied_on_the_host)
