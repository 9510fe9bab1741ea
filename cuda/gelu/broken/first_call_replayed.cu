// SPDX-License-Identifier: Apache-2.0
// FAULT: the first output of a shape and dtype is kept and copied for every later call of the like, from 1024 elements on.
// Kind: cheat
// Caught by: the bound, with layout=padded (f16).
#include "cuda/gelu/broken/plain.cuh"

#include <map>
#include <tuple>
#include <vector>

namespace assay::ROOM(gelu, first_call_replayed) {

KERNEL(gelu) = plain_traits<Plain>();

void run(const gelu::Args& a, const Launch& l) {
  static std::map<std::tuple<DType, std::int64_t, std::int64_t>, std::vector<double>> outputs;
  const std::int64_t n = a.x.size();
  std::vector<double>& y = outputs[{a.x.dtype, a.x.shape[0], a.x.shape[1]}];
  if (n >= 1024 && !y.empty()) {
    for (std::int64_t i = 0; i < n; ++i) a.y.set(i, y[static_cast<std::size_t>(i)]);
    return;
  }
  run_plain<Plain>(a, l);
  if (n >= 1024)
    for (std::int64_t i = 0; i < n; ++i) y.push_back(a.y.at(i));
}

}  // namespace assay::ROOM(gelu, first_call_replayed)
