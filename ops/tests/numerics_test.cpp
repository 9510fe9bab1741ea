// SPDX-License-Identifier: Apache-2.0
// Computes what a declared word of Numerics stands for, step by step in float, as the kernels of cuda/OP/variants do.  Every
// error must be within the bound with the word, and some error outside the bound without it.
#include <cstdint>
#include <functional>
#include <vector>

#include "catch_shim.hpp"
#include "ops/core/activation.hpp"
#include "ops/core/gemm_bound.hpp"
#include "ops/core/norm_bound.hpp"
#include "ops/cross_entropy.hpp"
#include "ops/row_reduce.hpp"
#include "ops/softmax.hpp"

using namespace assay;

namespace {

// Values within [-1, 1), of f32.
struct Draws {
  std::uint64_t state = 1;
  float operator()() {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return static_cast<float>(static_cast<std::int32_t>(state >> 32)) * 0x1p-31f;
  }
};

float rounded(DType t, float v) { return static_cast<float>(round_to(t, v)); }

Tensor vector_of(std::vector<double>& v) {
  return {.data = v.data(), .dtype = f64, .rank = 2, .shape = {1, static_cast<std::int64_t>(v.size())}, .stride = {1, 1}};
}

// Over many draws: errors and bounds of one answer.
struct Tried {
  double largest = 0, largest_without = 0;  // err/bound with the word and without it
  void add(double error, double bound, double bound_without) {
    largest = std::max(largest, error / bound);
    largest_without = std::max(largest_without, error / bound_without);
  }
  void check() const {
    CHECK(largest <= 1);
    CHECK(largest_without > 1);
  }
};

// A dot product of `terms` draws, computed by `step` from sum, x and w.
Tried products(const Numerics& numerics, int terms, float least, const std::function<float(float, float, float)>& step) {
  Tried tried;
  Draws draw;
  for (int trial = 0; trial < 200; ++trial) {
    double sum_abs = 0, sum_sq = 0, exact = 0, factors = 0;
    float sum = 0;
    for (int k = 0; k < terms; ++k) {
      const float x = least + draw(), w = least + draw();
      const double product = static_cast<double>(x) * static_cast<double>(w);
      exact += product;
      sum_abs += std::fabs(product);
      sum_sq += product * product;
      factors += std::fabs(x) + std::fabs(w);
      sum = step(sum, x, w);
    }
    for (const Errors errors : {Errors::coherent, Errors::independent})
      if (errors == Errors::coherent || least == 0)
        tried.add(std::fabs(static_cast<double>(sum) - exact),
                  product_error(numerics, errors, terms, exact, sum_abs, sum_sq, factors),
                  product_error({}, errors, terms, exact, sum_abs, sum_sq));
  }
  return tried;
}

}  // namespace

TEST_CASE("numerics: sums in f16 and bf16 are within the bound of their format", "[numerics]") {
  for (const DType t : {f16, bf16})
    for (const float least : {0.0f, 2.0f}) {  // signs at random, or all alike
      const auto narrow = [t](float v) { return rounded(t, v); };
      products({.accumulate = t}, 300, least, [&](float sum, float x, float w) { return narrow(sum + narrow(x * w)); }).check();
    }
}

TEST_CASE("numerics: the bound of a long sum in bf16 is finite, and that of an overflowing one in f16 is not", "[numerics]") {
  const auto worst = [](const Numerics& n, std::int64_t k, double sum_abs) {
    return product_error(n, Errors::coherent, k, sum_abs, sum_abs, sum_abs * sum_abs);
  };
  const double k_u = 100000 * 0x1p-8, n_u = 129 * 0x1p-11;
  CHECK(std::fabs(worst({.accumulate = bf16}, 100000, 1) / k_u - 1) < 1e-6);
  CHECK(std::fabs(worst({.accumulate = f16, .chain = {.lanes = 8}}, 1024, 1) / (n_u / (1 - n_u)) - 1) < 1e-3);
  CHECK(std::isfinite(worst({.accumulate = f16}, 4, 65000)));
  CHECK(std::isinf(worst({.accumulate = f16}, 4, 65500)));
  CHECK(std::isfinite(worst({.accumulate = bf16}, 4, 1e30)));
}

TEST_CASE("numerics: narrowed factors cost two roundings a term, pieces less", "[numerics]") {
  const auto narrow = [](float v) { return rounded(bf16, v); };
  const auto one = [&](float sum, float x, float w) { return std::fmaf(narrow(x), narrow(w), sum); };
  const auto two = [&](float sum, float x, float w) {
    const float x1 = narrow(x), x2 = narrow(x - x1), w1 = narrow(w), w2 = narrow(w - w1);
    return std::fmaf(x1, w1, std::fmaf(x1, w2, std::fmaf(x2, w1, sum)));
  };
  for (const float least : {0.0f, 2.0f}) products({.factors = {.precision = 8}}, 20, least, one).check();
  products({.factors = {.precision = 8, .pieces = 2, .products = 3}}, 3, 0, two).check();
  const auto of = [](const Factors& f) { return product_error({.factors = f}, Errors::coherent, 1, 1, 1, 1); };
  CHECK(std::fabs(of({.precision = 8}) / (2 * 0x1p-8) - 1) < 0.01);
  CHECK(std::fabs(of({.precision = 11}) / (2 * 0x1p-11) - 1) < 0.01);
  CHECK(std::fabs(of({.precision = 8, .pieces = 2, .products = 3}) / (3 * 0x1p-16 + 3 * 0x1p-24) - 1) < 0.01);
  CHECK(std::isinf(
      product_error({.factors = {.precision = 8}}, Errors::coherent, 1, 1, 1, 1, std::numeric_limits<double>::infinity())));
}

TEST_CASE("numerics: a term of narrowed factors below the normal range is off by their floor", "[numerics]") {
  const float x = 0x1.2p-131f, w = 1;  // half a unit from two subnormals of bf16
  const double exact = x, error = std::fabs(rounded(bf16, x) - exact);
  const Numerics n{.factors = {.precision = 8}};
  CHECK(error > product_error(n, Errors::coherent, 1, exact, exact, exact * exact));
  CHECK(error <= product_error(n, Errors::coherent, 1, exact, exact, exact * exact, x + w));
}

TEST_CASE("numerics: SiLU by tanh has an absolute error for negative x", "[numerics]") {
  Tried tried;
  for (float z = -30; z < 30; z += 0.37f) {
    const float got = 0.5f * z * (1 + std::tanh(0.5f * z));
    tried.add(std::fabs(static_cast<double>(got) - activation(Activation::silu, z)),
              activation_error({.tanh_sigmoid = true}, Activation::silu, z, 0), activation_error({}, Activation::silu, z, 0));
  }
  tried.check();
}

TEST_CASE("numerics: a fused exponent's maximum rounds", "[numerics]") {
  // The sums are of exact terms, those of the row's maximum shifted as max log2(e) rounds; y is then exp(x - max) / sum.
  Tried of_sum, of_y;
  Draws draw;
  constexpr double kLog2E = 1.4426950408889634;
  for (int trial = 0; trial < 100; ++trial) {
    std::vector<double> x{300 * draw(), 0, 0}, y(3), target{0};
    x[1] = rounded(f32, static_cast<float>(x[0] - 1));
    x[2] = x[1];
    double exact = 0, shifted = 0, spread = 0;
    for (const double v : x) exact += std::exp(v - x[0]);
    for (const double v : x) spread += std::exp(v - x[0]) * (x[0] - v) / exact;
    const float m_c = static_cast<float>(x[0]) * static_cast<float>(kLog2E);
    for (const double v : x) shifted += std::exp2(std::fmaf(static_cast<float>(v), static_cast<float>(kLog2E), -m_c));
    std::vector<double> max{x[0]}, spreads{spread}, log_sum{std::log(exact)}, loss{log_sum[0]}, p;
    for (const double v : x) p.push_back(std::exp(v - x[0]) / exact);
    const softmax::Args a{.x = vector_of(x), .y = vector_of(y)};
    const softmax::Golden g{p, max, spreads};
    const Numerics with{.function_error = 1, .fused_exponent = true}, without{.function_error = 1};
    // Only the sum has the shift, as in an online softmax whose threads have other maxima.
    for (int i = 0; i < 3; ++i)
      of_y.add(std::fabs(std::exp(x[i] - x[0]) / shifted - p[i]), softmax::bound(a, g, with, Errors::coherent, 0, i),
               softmax::bound(a, g, without, Errors::coherent, 0, i));
    Tensor targets = vector_of(target);
    targets.rank = 1;
    const cross_entropy::Args c{.x = vector_of(x), .target = targets};
    const cross_entropy::Golden of_c{loss, {}, spreads, log_sum};
    of_sum.add(std::fabs(std::log(shifted) - loss[0]), cross_entropy::bound(c, of_c, with, Errors::coherent, 0, 0),
               cross_entropy::bound(c, of_c, without, Errors::coherent, 0, 0));
    std::vector<double> lse{x[0] + log_sum[0]};
    const row_reduce::Args r{.x = vector_of(x), .what = Reduction::logsumexp};
    const row_reduce::Golden of_r{lse, max, spreads};
    CHECK(row_reduce::bound(r, of_r, with, Errors::coherent, 0, 0) > row_reduce::bound(r, of_r, without, Errors::coherent, 0, 0));
  }
  of_y.check();
  of_sum.check();
}

TEST_CASE("numerics: an inexact quotient or root is added to the error of what is divided", "[numerics]") {
  const double u = 0x1p-24;
  const auto rms = [](const Numerics& n) { return rmsnorm_error(n, Errors::coherent, 64, 3, 1, 0) / 3; };
  const auto layer = [](const Numerics& n) { return layernorm_error(n, Errors::coherent, 64, 3, 1, 1, 0) / 3; };
  for (const auto& of : {std::function(rms), std::function(layer)}) {
    CHECK(std::fabs((of({.root_error = 81}) - of({})) / (80 * u) - 1) < 1e-3);
    CHECK(std::fabs((of({.quotient_error = 81}) - of({})) / (80 * u) - 1) < 1e-3);
  }
  std::vector<double> x{0, 0}, y{0.5, 0.5}, max{0}, spread{0};
  const softmax::Args a{.x = vector_of(x), .y = vector_of(y)};
  const softmax::Golden g{y, max, spread};
  const auto soft = [&](const Numerics& n) { return softmax::bound(a, g, n, Errors::coherent, 0, 0) / 0.5; };
  CHECK(std::fabs((soft({.quotient_error = 81}) - soft({})) / (80 * u) - 1) < 2e-3);
}

TEST_CASE("numerics: a sum that is normalised as it is on the chip is off by one rounding, and its squares by two",
          "[numerics]") {
  // Of one column m needs no addition: u m for the square and, of a rounded sum, 2u m.  Half of that and 1 u are in xhat.
  const double u = 0x1p-24;
  const auto relative = [](std::int64_t cols, int of_x) { return rmsnorm_error({}, Errors::coherent, cols, 3, 9, 0, of_x); };
  CHECK(std::fabs(relative(1, 0) / (u * (0.5 * (1 + 2) + 2 + 1)) - 1) < 1e-3);
  for (const std::int64_t cols : {1, 64}) CHECK(std::fabs((relative(cols, 1) - relative(cols, 0)) / (2 * u) - 1) < 1e-3);
  // Sums in float, of which much cancels, and their norm in float.
  double largest = 0;
  Draws draw;
  for (int trial = 0; trial < 2000; ++trial) {
    double exact[2], square = 0;
    float sum[2], squares = 0;
    for (int c = 0; c < 2; ++c) {
      const float x = 64 * draw(), residual = -x * (1 + draw() / 16);
      exact[c] = static_cast<double>(x) + static_cast<double>(residual);
      square += exact[c] * exact[c] / 2;
      sum[c] = x + residual;
      squares += sum[c] * sum[c];
    }
    const double got = static_cast<double>(sum[0] / std::sqrt(squares / 2 + 0.5f)), xhat = exact[0] / std::sqrt(square + 0.5);
    largest = std::max(largest, std::fabs(got - xhat) / rmsnorm_error({}, Errors::coherent, 2, exact[0], square, 0.5, 1));
  }
  CHECK(largest <= 1);
  CHECK(largest > 0.2);
}

TEST_CASE("numerics: an affine that is folded into the norm loses the low bits of the mean", "[numerics]") {
  Tried tried;
  Draws draw;
  for (int trial = 0; trial < 1000; ++trial) {
    const float mean = 50 + draw(), r = 2 + draw(), x = mean + draw(), gamma = 2 + draw(), beta = draw();
    const float a = r * gamma, got = x * a + (beta - mean * a);
    const double d = static_cast<double>(x) - mean, xhat = d * r, exact = xhat * gamma + beta;
    const auto bound = [&](const Numerics& n) {
      return affine_error(n, f32, 2 * 0x1p-24 * std::fabs(xhat), gamma, xhat * gamma, exact,
                          folded_affine_error(n, x, mean, r, gamma, beta));
    };
    tried.add(std::fabs(got - exact), bound({.folded_affine = true}), bound({}));
  }
  tried.check();
}

TEST_CASE("numerics: running moments err by a chain of roundings, whatever the lanes", "[numerics]") {
  Tried tried;
  Draws draw;
  constexpr int kCols = 64;
  for (int trial = 0; trial < 100; ++trial) {
    std::vector<float> x(kCols);
    double mean = 0, mean_abs = 0, variance = 0;
    for (float& v : x) {
      v = 50 + draw();
      mean += v / double{kCols};
      mean_abs += std::fabs(v) / double{kCols};
    }
    for (const float v : x) variance += (v - mean) * (v - mean) / kCols;
    float of_mean = 0, squares = 0;
    for (int k = 0; k < kCols; ++k) {
      const float before = x[static_cast<std::size_t>(k)] - of_mean;
      of_mean += before / static_cast<float>(k + 1);
      squares = std::fmaf(before, x[static_cast<std::size_t>(k)] - of_mean, squares);
    }
    const auto bound = [&](const Numerics& n, double d) {
      return layernorm_error(n, Errors::coherent, kCols, d, mean_abs, variance, 0);
    };
    const double root = std::sqrt(variance), off = std::fabs(std::sqrt(kCols / static_cast<double>(squares)) - 1 / root);
    tried.add(std::fabs(of_mean - mean) / root, bound({.running_moments = true}, 0), bound({.chain = {.lanes = kCols}}, 0));
    CHECK(off <= bound({.running_moments = true}, 1));
  }
  tried.check();
}

TEST_CASE("numerics: exact answers are asked only of kernels whose words allow them", "[numerics]") {
  CHECK(Numerics{}.exact_where_representable(f32));
  CHECK(Numerics{.accumulate = bf16, .stores_intermediate = true, .tanh_sigmoid = true}.exact_where_representable(bf16));
  CHECK_FALSE(Numerics{.accumulate = bf16}.exact_where_representable(f16));
  for (const Numerics& n : {Numerics{.factors = {.precision = 11}}, Numerics{.quotient_error = 2}, Numerics{.root_error = 2},
                            Numerics{.fused_exponent = true}, Numerics{.folded_affine = true}, Numerics{.running_moments = true}})
    CHECK_FALSE(n.exact_where_representable(f16));
}
