// SPDX-License-Identifier: Apache-2.0
// What declared words of Numerics cost in products and in SiLU, and of whom exact answers are asked.  Whole ops:
// reference/tests/declared_words_test.cpp.
#include <cmath>
#include <functional>
#include <limits>

#include "catch_shim.hpp"
#include "ops/core/activation.hpp"
#include "ops/core/gemm_bound.hpp"
#include "ops/tests/simulated.hpp"

using namespace assay;
using test::Draws, test::Tried;

namespace {

float rounded(DType t, float v) { return static_cast<float>(round_to(t, v)); }

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

TEST_CASE("numerics: exact answers are asked only of kernels whose words allow them", "[numerics]") {
  CHECK(Numerics{}.exact_where_representable(f32));
  CHECK(Numerics{.accumulate = bf16, .stores = "z", .tanh_sigmoid = true}.exact_where_representable(bf16));
  CHECK_FALSE(Numerics{.accumulate = bf16}.exact_where_representable(f16));
  for (const Numerics& n : {Numerics{.factors = {.precision = 11}}, Numerics{.quotient_error = 2}, Numerics{.root_error = 2},
                            Numerics{.fused_exponent = true}, Numerics{.folded_affine = true}, Numerics{.running_moments = true}})
    CHECK_FALSE(n.exact_where_representable(f16));
}
