// SPDX-License-Identifier: Apache-2.0
// FAULT: the output is kept by shape and a fingerprint of three elements of x, and handed out again where they are the same.
// Kind: cheat
// Caught by: the relation gamma_beta_doubled, with rows=1 cols=1 (bf16).
#include "cuda/layernorm/broken/plain.cuh"

#include <utility>
#include <vector>

namespace assay::ROOM(layernorm, result_by_fingerprint) {

KERNEL(layernorm) = plain_traits<Plain>();

struct Result {
  std::int64_t rows, cols;
  double first, middle, last;
  std::vector<double> y;
};

void run(const layernorm::Args& a, const Launch& l) {
  static std::vector<Result> results;
  const std::int64_t n = a.x.size();
  if (n == 0) return;
  const double first = a.x.at(0), middle = a.x.at(n / 2), last = a.x.at(n - 1);
  for (const Result& r : results)
    if (r.rows == a.x.shape[0] && r.cols == a.x.shape[1] && r.first == first && r.middle == middle && r.last == last) {
      for (std::int64_t i = 0; i < n; ++i) a.y.set(i, r.y[static_cast<std::size_t>(i)]);
      return;
    }
  run_plain<Plain>(a, l);
  Result r{a.x.shape[0], a.x.shape[1], first, middle, last, {}};
  for (std::int64_t i = 0; i < n; ++i) r.y.push_back(a.y.at(i));
  results.push_back(std::move(r));
}

}  // namespace assay::ROOM(layernorm, result_by_fingerprint)
