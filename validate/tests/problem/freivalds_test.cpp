// SPDX-License-Identifier: Apache-2.0
// Freivalds' check on trial: right products pass, products with little wrong do not.
#include "validate/ops/freivalds.hpp"

#include <optional>

#include "catch_shim.hpp"
#include "reference/tests/golden_testing.hpp"
#include "validate/judge/compare.hpp"

namespace assay {
namespace {

// A problem of rmsnorm_gemm whose golden is that of three rows, and what a pipeline with declared roundings answers.
struct Sampled {
  Sampled(DType dtype, std::string_view fill, const Numerics& declared) : numerics(declared) {
    Case c{.op = "rmsnorm_gemm", .dtype = dtype, .fill = std::string(fill), .seed = 11, .source = {}, .reduced = {}};
    c.dims[Axis::tokens] = kTokens;
    c.dims[Axis::hidden] = 200;
    c.dims[Axis::out] = kOut;
    filled.emplace(op, c);
    problem = &filled->problem();
    if (find_fill(op, c.fill).coherent) problem->set_errors(Errors::coherent);
    problem->solve({0, 17, kTokens - 1});
    right.resize(kTokens * kOut);
    op.formula.first_by_oracle(problem->args(), numerics, Roundings::declared, right);
    got = *problem->tensors().back();
    restore();
  }
  void restore() {
    for (std::size_t i = 0; i < right.size(); ++i) got.set(static_cast<std::int64_t>(i), right[i]);
  }
  double sweep(std::uint64_t seed) const { return op.hooks.sweep(problem->args(), numerics, problem->errors(), got, seed); }
  std::int64_t wrong_in_sample() const { return compare(*problem, numerics, 0, got, false).wrong; }

  static constexpr std::int64_t kTokens = 41, kOut = 250;
  const Op& op = *find_op("rmsnorm_gemm");
  Numerics numerics;
  std::optional<test::FilledCase> filled;
  Problem* problem = nullptr;  // of `filled`
  std::vector<double> right;
  Tensor got;
};

}  // namespace

TEST_CASE("freivalds: right products pass for many seeds; one wrong element, or two that cancel, are seen") {
  constexpr std::int64_t kTokens = 37, kHidden = 65, kOut = 301;
  std::vector<double> x(kTokens * kHidden), w(kOut * kHidden), b(kOut), y(kTokens * kOut);
  const auto draw = [](std::vector<double>& v, std::uint64_t tensor) {
    for (std::size_t i = 0; i < v.size(); ++i)
      v[i] = round_to(f16, random::normal(random::key(5, tensor, random::Purpose::value), i));
  };
  draw(x, 0);
  draw(w, 1);
  draw(b, 2);
  for (std::int64_t t = 0; t < kTokens; ++t)
    for (std::int64_t o = 0; o < kOut; ++o) {
      double sum = b[o];
      for (std::int64_t h = 0; h < kHidden; ++h) sum += x[t * kHidden + h] * w[o * kHidden + h];
      y[t * kOut + o] = round_to(f16, sum);
    }
  const auto tensor = [](std::vector<double>& v, std::int64_t rows, std::int64_t cols) {
    return Tensor{.data = v.data(), .dtype = f64, .rank = 2, .shape = {rows, cols}, .stride = {cols, 1}};
  };
  std::vector<std::byte> stored(y.size() * 2);
  Tensor got{.data = stored.data(), .dtype = f16, .rank = 2, .shape = {kTokens, kOut}, .stride = {kOut, 1}};
  const Tensor bias{.data = b.data(), .dtype = f64, .rank = 1, .shape = {kOut}, .stride = {1}};
  const auto margin = [&](std::uint64_t seed) {
    return freivalds::linear_margin(tensor(x, kTokens, kHidden), tensor(w, kOut, kHidden), bias, got, {.mma_terms = 8},
                                    Errors::independent, seed);
  };
  const auto store = [&] {
    for (std::size_t i = 0; i < y.size(); ++i) got.set(static_cast<std::int64_t>(i), y[i]);
  };
  store();
  for (std::uint64_t seed = 0; seed < 50; ++seed) CHECK(margin(seed) < 1);
  CHECK(margin(1) > 0.01);

  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    store();
    got.set(7 * kOut + 11, y[7 * kOut + 11] + 4);  // of sums of deviation 8
    CHECK(margin(seed) > 1);
    got.set(7 * kOut + 12, y[7 * kOut + 12] - 4);
    CHECK(margin(seed) > 1);
  }
  store();
  for (std::int64_t o = 128; o < 256; ++o) got.set(30 * kOut + o, 0);
  CHECK(margin(3) > 5);
  got.set(2, std::nan(""));
  CHECK(std::isinf(margin(3)));
}

TEST_CASE("rmsnorm_gemm's sweep: declared roundings pass; what is wrong in rows that were not sampled is seen") {
  const Numerics kernels[] = {{.chain = {.lanes = 1}},
                              {.chain = {.lanes = 1}, .mma_terms = 8, .stores = "n"},
                              {.chain = {.lanes = 1}, .mma_terms = 8, .stores = "scaled_weight"}};
  for (const Numerics& numerics : kernels)
    for (const DType dtype : {f16, bf16})
      for (const char* fill : {"normal", "hot_channel", "cancelling", "uniform01", "constant_rows"}) {
        INFO(name(dtype) << " " << fill << " " << numerics.stores);
        Sampled s(dtype, fill, numerics);
        REQUIRE(s.wrong_in_sample() == 0);
        for (std::uint64_t seed = 0; seed < 20; ++seed) CHECK(s.sweep(seed) < 1);
      }

  Sampled s(f16, "normal", kernels[2]);
  CHECK(s.sweep(1) > 0.01);
  const auto planted = [&](std::int64_t token, auto&& change) {
    s.restore();
    for (std::int64_t o = 0; o < Sampled::kOut; ++o) {
      const std::int64_t i = token * Sampled::kOut + o;
      s.got.set(i, change(o, s.right[static_cast<std::size_t>(i)]));
    }
    CHECK(s.wrong_in_sample() == 0);  // nobody else would see it
    return s.sweep(5);
  };
  CHECK(planted(23, [](std::int64_t, double v) { return v * 1.05; }) > 1);                // r of another row, almost the same
  CHECK(planted(8, [](std::int64_t o, double v) { return o < 128 ? v : 0; }) > 5);        // a tile that is left out
  CHECK(planted(39, [](std::int64_t o, double v) { return o == 3 ? v + 12 : v; }) > 1);   // an element
  CHECK(planted(16, [&](std::int64_t o, double) { return s.right[17 * 250 + o]; }) > 5);  // the row beside it
  CHECK(std::isinf(planted(1, [](std::int64_t o, double v) { return o ? v : std::nan(""); })));
}

}  // namespace assay
