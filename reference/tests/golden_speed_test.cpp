// SPDX-License-Identifier: Apache-2.0
// Measures the goldens against the speed of Eigen's f64 matrix product.  Hidden, since it takes seconds and means nothing on a
// busy machine:   assay_tests "[.golden_speed]"
// cmake/Tests.cmake compiles it with the flags of the goldens, so that both rates are comparable.
#include <fmt/format.h>

#include <Eigen/Core>
#include <algorithm>
#include <chrono>
#include <memory>

#include "catch_shim.hpp"
#include "validate/cases/case.hpp"
#include "validate/problem/image.hpp"
#include "validate/problem/sample.hpp"

namespace assay {
namespace {

template <class F>
double seconds_of(F&& f) {
  const auto begin = std::chrono::steady_clock::now();
  f();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

struct Timed {
  const char* line;
  // Number of equal-sized matrix products in the golden: values, |.| and (.)^2 for each product of the op; for P V also p with
  // v^2.
  double products;
};
constexpr Timed kTimed[] = {
    {"linear f16 tokens=1024 hidden=2048 out=2048", 3},
    {"linear f16 tokens=64 hidden=4096 out=8192", 3},
    {"gelu_linear f16 tokens=1024 hidden=2048 out=2048 bias=yes", 3},
    {"gemm_swiglu f16 tokens=512 hidden=2048 ffn=2048", 3 * 2},
    {"rmsnorm_gemm f16 tokens=1024 hidden=2048 out=2048", 3},
    {"rmsnorm_gemm bf16 tokens=64 hidden=4096 out=8192", 3},
    {"attention_scores f16 batch=1 seq_q=1024 seq_k=1024 heads=4 kv_heads=4 head_dim=128", 3},
    {"attention_scores f16 batch=1 seq_q=1024 seq_k=1024 heads=4 kv_heads=4 head_dim=64", 3},
    {"attention_forward f16 batch=1 seq_q=1024 seq_k=1024 heads=4 kv_heads=4 head_dim=128", 3 + 4},
    {"attention_forward f16 batch=1 seq_q=1024 seq_k=1024 heads=4 kv_heads=4 head_dim=64", 3 + 4},
    {"attention_forward f16 batch=1 seq_q=2048 seq_k=2048 heads=4 kv_heads=4 head_dim=64 mask=causal", 3 + 4},
    {"attention_forward bf16 batch=1 seq_q=4096 seq_k=131072 heads=8 kv_heads=1 head_dim=128", 3 + 4},  // sampled
    {"attention_forward f16 batch=1 seq_q=131072 seq_k=131072 heads=1 kv_heads=1 head_dim=64 mask=causal", 3 + 4},
};

struct Solvable {
  explicit Solvable(const char* line) {
    std::vector<OpShape> shapes;
    for (const Op& o : ops()) shapes.push_back(o.shape());
    c = parse_repro(line, shapes).what;
    op = find_op(c.op);
    problem = op->make();
    const std::vector<Placement> placements = place(*op, c);
    std::vector<std::byte*> pointers;
    for (std::size_t i = 0; i < placements.size(); ++i) {
      images.emplace_back(placements[i].bytes);
      fill_image(*op, c, static_cast<int>(i), placements[i], images.back().data(), {});
      pointers.push_back(images.back().data());
    }
    attach(*problem, c, placements, pointers);
    sample = sampled_rows(*op, c, *problem);
  }
  // Operations of one product: 2 hidden per element of y, or 2 head_dim per computed query and visible key.
  double flops() const {
    const auto extent = [&](Axis a) { return static_cast<double>(std::max<std::int64_t>(c.dims[a], 1)); };
    if (c.dims[Axis::hidden])
      return 2 * extent(Axis::hidden) * extent(Axis::out) * extent(Axis::ffn) *
             (sample.empty() ? extent(Axis::tokens) : static_cast<double>(sample.size()));
    const bool causal = c.attributes.contains("mask");
    const std::int64_t keys = c.dims[Axis::seq_k], queries = c.dims[Axis::seq_q], heads = c.dims[Axis::heads];
    double pairs = 0;
    const auto add = [&](std::int64_t query) { pairs += static_cast<double>(causal ? query + 1 + keys - queries : keys); };
    for (const std::int64_t row : sample) add(row / heads % queries);
    for (std::int64_t i = 0; sample.empty() && i < c.dims[Axis::batch] * heads * queries; ++i) add(i % queries);
    return 2 * extent(Axis::head_dim) * pairs;
  }
  Case c;
  const Op* op;
  std::unique_ptr<Problem> problem;
  std::vector<std::vector<std::byte>> images;
  std::vector<std::int64_t> sample;
};

}  // namespace

TEST_CASE("the goldens reach half of Eigen's rate", "[.golden_speed]") {
  constexpr int kRounds = 5, kSize = 1536;
  const Eigen::MatrixXd a = Eigen::MatrixXd::Random(kSize, kSize), b = Eigen::MatrixXd::Random(kSize, kSize);
  Eigen::MatrixXd c(kSize, kSize);
  c.noalias() = a * b;
  for (const Timed& t : kTimed) {
    Solvable s(t.line);
    s.problem->solve(s.sample);
    // Alternates the two and keeps the best of each, since other work on the machine slows both.
    double eigen = 1e9, golden = 1e9;
    for (int round = 0; round < kRounds; ++round) {
      eigen = std::min(eigen, seconds_of([&] { c.noalias() = a * b; }));
      golden = std::min(golden, seconds_of([&] { s.problem->solve(s.sample); }));
    }
    const double eigen_rate = 2.0 * kSize * kSize * kSize / eigen, golden_rate = t.products * s.flops() / golden;
    fmt::print("{:.2f} of Eigen's {:.1f} GFLOP/s, {:.0f} ms  {}{}\n", golden_rate / eigen_rate, eigen_rate / 1e9, golden * 1e3,
               t.line, s.sample.empty() ? "" : fmt::format(", {} rows", s.sample.size()));
    CHECK(golden_rate >= 0.5 * eigen_rate);
  }
}

}  // namespace assay
