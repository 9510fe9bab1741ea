// SPDX-License-Identifier: Apache-2.0
// Tests GELU and SiLU against published values, their derivatives against differences, and the constants of their bound.
#include "ops/core/activation.hpp"

#include <limits>

#include "catch_shim.hpp"

namespace assay {
namespace {

constexpr Activation kAll[] = {Activation::gelu_tanh, Activation::gelu_erf, Activation::silu};

}  // namespace

TEST_CASE("activations: a kernel may lose what is below where the exponential of a sigmoid overflows, and no more", "[bound]") {
  for (const Activation form : {Activation::silu, Activation::gelu_tanh})
    for (const DType accumulate : {f32, f16}) {
      const Numerics numerics{.accumulate = accumulate};
      double z = -1;  // the first at which the exponential is infinite
      while (!(std::exp(-detail::sigmoid_argument(form, z)) >= overflow_threshold(accumulate))) z *= 1.001;
      CHECK(activation_error(numerics, form, z, 0) >= std::fabs(activation(form, z)));
      CHECK(activation_error(numerics, form, 1.01 * z, 0) >= std::fabs(activation(form, 1.01 * z)));
      if (accumulate == f32) CHECK(activation_error(numerics, form, 0.99 * z, 0) < 0.01 * std::fabs(activation(form, 0.99 * z)));
    }
}

TEST_CASE("activations: values", "[golden]") {
  // z Phi(z), Phi from tables of the normal distribution.
  CHECK(std::fabs(activation(Activation::gelu_erf, 1) - 0.841344746068543) < 1e-15);
  CHECK(std::fabs(activation(Activation::gelu_erf, 2) - 2 * 0.977249868051821) < 1e-15);
  CHECK(std::fabs(activation(Activation::gelu_erf, -3) + 3 * 0.001349898031630095) < 1e-17);
  // sqrt(2/pi) 1.044715 = 0.8335622..., and tanh of that by the formula.
  CHECK(std::fabs(activation(Activation::gelu_tanh, 1) - 0.5 * (1 + std::tanh(std::sqrt(2 / std::numbers::pi) * 1.044715))) <
        1e-15);
  CHECK(std::fabs(activation(Activation::gelu_tanh, -1) + 0.5 * (1 - std::tanh(std::sqrt(2 / std::numbers::pi) * 1.044715))) <
        1e-15);
  CHECK(std::fabs(activation(Activation::silu, 1) - 1 / (1 + 1 / std::numbers::e)) < 1e-15);
  CHECK(std::fabs(activation(Activation::silu, -2) + 2 / (1 + std::exp(2.0))) < 1e-15);
  // The minima: GELU's near -0.75, SiLU's at -1.278.
  CHECK(std::fabs(activation(Activation::gelu_erf, -0.751791) + 0.169971) < 1e-6);
  CHECK(std::fabs(activation(Activation::silu, -1.278465) + 0.278465) < 1e-6);

  const double inf = std::numeric_limits<double>::infinity();
  for (const Activation f : kAll) {
    CHECK(activation(f, 0) == 0);
    CHECK(activation(f, 64) == 64);
    CHECK(activation(f, inf) == inf);
    CHECK(std::isnan(activation(f, -inf)));
    CHECK(activation(f, -1024) == 0);
  }
}

TEST_CASE("activations: slopes and the constants of the bound", "[golden]") {
  for (const Activation f : kAll) {
    INFO(static_cast<int>(f));
    double steepest = 0, sharpest = 0;
    for (int i = -20'000; i <= 20'000; ++i) {
      const double z = i / 1024.0, h = 0x1p-12;
      const double slope = activation_slope(f, z), difference = (activation(f, z + h) - activation(f, z - h)) / (2 * h);
      if (!(std::fabs(slope - difference) < 1e-6)) FAIL(z << ": " << slope << " " << difference);
      const double bend = (activation_slope(f, z + h) - activation_slope(f, z - h)) / (2 * h);
      if (z < detail::kTurn && !(bend <= 0)) FAIL(z << ": bends up, " << bend);
      steepest = std::max(steepest, std::fabs(slope));
      sharpest = std::max(sharpest, std::fabs(bend));
    }
    CHECK(steepest < detail::kSlope);
    CHECK(sharpest < detail::kBend);
    if (f == Activation::silu) continue;
    CHECK(steepest > detail::kSlope - 0.002);
    CHECK(sharpest > detail::kBend - 0.001);
  }
}

TEST_CASE("activations: an argument error of any size is propagated", "[bound]") {
  for (const Activation f : kAll)
    for (int i = -400; i <= 400; ++i)
      for (const double t : {0.0, 1e-6, 1e-3, 0.1, 1.0, 30.0}) {
        const double z = i / 16.0, bound = activation_error({}, f, z, t);
        for (int k = -16; k <= 16; ++k) {
          const double moved = activation(f, z + t * k / 16) - activation(f, z);
          if (!(std::fabs(moved) <= bound))
            FAIL(static_cast<int>(f) << " at " << z << " +- " << t << ": " << moved << " " << bound);
        }
      }
  // With an exact argument the bound stays relative, also where 1 + tanh would cancel.
  for (const Activation f : kAll) CHECK(activation_error({}, f, -5, 0) < 150 * 0x1p-24 * std::fabs(activation(f, -5)));
  CHECK(activation_error({.cancelling_gelu = true}, Activation::gelu_tanh, -5, 0) >
        std::fabs(activation(Activation::gelu_tanh, -5)));
}

}  // namespace assay
