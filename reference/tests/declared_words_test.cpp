// SPDX-License-Identifier: Apache-2.0
// Computes what a declared word of Numerics stands for, step by step in float, as the kernels of cuda/OP/variants do.  Every
// error must be within the bound with the word, and some error outside the bound without it.
#include <cmath>
#include <cstdint>
#include <memory>
#include <vector>

#include "ops/layernorm.hpp"
#include "ops/linear.hpp"
#include "ops/rmsnorm.hpp"
#include "ops/softmax.hpp"
#include "ops/tests/simulated.hpp"
#include "reference/tests/golden_testing.hpp"
#include "reference/tests/solving.hpp"

namespace assay {
namespace {

using test::Draws, test::Tried;

// The first output of one row, y, and its bounds.
template <class Op>
struct Row {
  std::vector<double> y;
  std::unique_ptr<FormulaAnswers> answers;
  explicit Row(const typename Op::Args& args) : y(static_cast<std::size_t>(args.y.size())) {
    REQUIRE(LinkedAnswers<Op>::make);
    const std::vector<std::span<double>> outputs{y};
    answers = LinkedAnswers<Op>::make(args, {.total = 1}, outputs, Need::bounds);
  }
  std::vector<double> bounds(const Numerics& numerics) const {
    std::vector<double> all(y.size());
    const std::vector<std::span<double>> outputs{all};
    answers->bounds(Errors::coherent, numerics, outputs);
    return all;
  }
};

// Adds each element of a row.
template <class Op>
void add(Tried& tried, const Row<Op>& row, const std::vector<double>& got, const Numerics& with, const Numerics& without) {
  const std::vector<double> bounds = row.bounds(with), tight = row.bounds(without);
  for (std::size_t i = 0; i < got.size(); ++i) tried.add(std::fabs(got[i] - row.y[i]), bounds[i], tight[i]);
}

Row<layernorm> normed(std::vector<double>& x, std::vector<double>& gamma, std::vector<double>& beta, std::vector<double>& y) {
  const auto cols = static_cast<std::int64_t>(x.size());
  return Row<layernorm>({.x = test::matrix(x, 1, cols),
                         .gamma = test::vector_of(gamma),
                         .beta = test::vector_of(beta),
                         .y = test::matrix(y, 1, cols)});
}

}  // namespace

TEST_CASE("words: a fused exponent's maximum rounds", "[numerics]") {
  Tried tried;
  Draws draw;
  constexpr double kLog2E = 1.4426950408889634;
  for (int trial = 0; trial < 100; ++trial) {
    std::vector<double> x{300 * draw(), 0, 0}, y(3);
    x[1] = round_to(f32, x[0] - 1);
    x[2] = x[1];
    const float m_c = static_cast<float>(x[0]) * static_cast<float>(kLog2E);
    double sum = 0;
    for (const double v : x) sum += std::exp2(std::fmaf(static_cast<float>(v), static_cast<float>(kLog2E), -m_c));
    // Only the sum has the shift, as in an online softmax whose threads have other maxima.
    for (std::size_t i = 0; i < 3; ++i) y[i] = std::exp(x[i] - x[0]) / sum;
    const Row<softmax> row({.x = test::matrix(x, 1, 3), .y = test::matrix(y, 1, 3)});
    add(tried, row, y, {.function_error = 1, .fused_exponent = true}, {.function_error = 1});
  }
  tried.check();
}

TEST_CASE("words: an affine that is folded into the norm loses the low bits of the mean", "[numerics]") {
  Tried tried;
  Draws draw;
  constexpr int kCols = 16;
  for (int trial = 0; trial < 200; ++trial) {
    std::vector<double> x(kCols), gamma(kCols), beta(kCols), y(kCols);
    for (int c = 0; c < kCols; ++c) {
      x[static_cast<std::size_t>(c)] = 1000.0f + draw();
      gamma[static_cast<std::size_t>(c)] = draw();
      beta[static_cast<std::size_t>(c)] = draw();
    }
    const Row<layernorm> row = normed(x, gamma, beta, y);
    double mean = 0, variance = 1e-5;
    for (const double v : x) mean += v / kCols;
    for (const double v : x) variance += (v - mean) * (v - mean) / kCols;
    const auto of_mean = static_cast<float>(mean), r = static_cast<float>(1 / std::sqrt(variance));
    for (std::size_t c = 0; c < kCols; ++c) {
      const float a = r * static_cast<float>(gamma[c]);
      y[c] = static_cast<float>(x[c]) * a + (static_cast<float>(beta[c]) - of_mean * a);
    }
    // Of a chain of 16 lanes: the mean is as good as above.
    add(tried, row, y, {.chain = {.lanes = kCols}, .folded_affine = true}, {.chain = {.lanes = kCols}});
  }
  tried.check();
}

TEST_CASE("words: running moments err by a chain of roundings, whatever the lanes", "[numerics]") {
  Tried tried;
  Draws draw;
  constexpr int kCols = 64;
  for (int trial = 0; trial < 100; ++trial) {
    std::vector<double> x(kCols), gamma(kCols, 1), beta(kCols, 0), y(kCols);
    for (double& v : x) v = 50.0f + draw();
    const Row<layernorm> row = normed(x, gamma, beta, y);
    float mean = 0, squares = 0;
    for (std::size_t k = 0; k < kCols; ++k) {
      const float v = static_cast<float>(x[k]), before = v - mean;
      mean += before / static_cast<float>(k + 1);
      squares = std::fmaf(before, v - mean, squares);
    }
    const double r = 1 / std::sqrt(squares / double{kCols} + 1e-5);
    for (std::size_t k = 0; k < kCols; ++k) y[k] = (x[k] - static_cast<double>(mean)) * r;
    add(tried, row, y, {.running_moments = true}, {.chain = {.lanes = kCols}});
  }
  tried.check();
}

TEST_CASE("words: subnormal factors that vanish cost the least normal number times the other factor", "[numerics]") {
  Tried tried;
  Draws draw;
  for (int trial = 0; trial < 50; ++trial) {
    std::vector<double> x(8), weight(8), y(1);
    double flushed = 0;
    for (std::size_t k = 0; k < x.size(); ++k) {
      x[k] = draw() * 0x1p-125;
      weight[k] = 1 + draw() / 2;
      flushed += (std::fabs(x[k]) < 0x1p-126 ? 0 : x[k]) * weight[k];
    }
    y[0] = std::fabs(flushed) < 0x1p-126 ? 0 : flushed;
    const Row<linear> row(
        {.x = test::matrix(x, 1, 8), .weight = test::matrix(weight, 1, 8), .bias = {}, .y = test::matrix(y, 1, 1)});
    add(tried, row, y, {.flushes_storage = true}, {});
  }
  tried.check();
}

TEST_CASE("words: an inexact quotient or root is added to the error of what is divided", "[numerics]") {
  std::vector<double> x{3, 3, 3, 3}, gamma(4, 1), y(4);
  const Row<rmsnorm> row({.x = test::matrix(x, 1, 4), .gamma = test::vector_of(gamma), .y = test::matrix(y, 1, 4), .epsilon = 0});
  const double of_all = row.bounds({})[0], units = 80 * 0x1p-24;
  CHECK(std::fabs((row.bounds({.root_error = 81})[0] - of_all) / units - 1) < 1e-3);
  CHECK(std::fabs((row.bounds({.quotient_error = 81})[0] - of_all) / units - 1) < 1e-3);
  const Row<softmax> halves({.x = test::matrix(x, 2, 2), .y = test::matrix(y, 2, 2)});
  CHECK(std::fabs((halves.bounds({.quotient_error = 81})[0] - halves.bounds({})[0]) / (units / 2) - 1) < 2e-3);
}

}  // namespace assay
