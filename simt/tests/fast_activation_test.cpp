// SPDX-License-Identifier: Apache-2.0
// The activations of cuda/core/activation.cuh that take no division, against the bound that a kernel with them gets.
#include <bit>
#include <cmath>
#include <limits>

#include "catch_shim.hpp"
#include "cuda/core/activation.cuh"

namespace {

using assay::Activation;
namespace on_simt = assay::on_simt;

float fast(Activation f, float z) {
  if (f == Activation::silu) return on_simt::silu_fast(z);
  return f == Activation::gelu_erf ? on_simt::gelu_erf_fast(z) : on_simt::gelu_tanh_fast(z);
}

}  // namespace

TEST_CASE("activations without a division are within their bound", "[simt]") {
  const float inf = std::numeric_limits<float>::infinity();
  for (const Activation f : {Activation::gelu_tanh, Activation::gelu_erf, Activation::silu}) {
    INFO(static_cast<int>(f));
    const assay::Numerics numerics{.exponent_error = f == Activation::silu ? on_simt::kFastSiluExponentError : 0,
                                   .quotient_error = on_simt::kFastQuotientError,
                                   .flushes_subnormals = true};
    double worst = 0, at = 0;
    for (std::uint32_t bits = 0x30000000; bits < 0x43800000; bits += 1009)  // from 2^-31 to 256
      for (const float z : {std::bit_cast<float>(bits), -std::bit_cast<float>(bits)}) {
        const double share = std::fabs(static_cast<double>(fast(f, z)) - activation(f, static_cast<double>(z))) /
                             activation_error(numerics, f, static_cast<double>(z), 0);
        if (!(share <= worst)) {
          worst = share;
          at = static_cast<double>(z);
        }
      }
    INFO("at " << at);
    CHECK(worst <= 1);
    CHECK(worst > 0.3);  // the bound is no wider than it has to be
    CHECK(fast(f, 0) == 0);
    CHECK(fast(f, inf) == inf);
    CHECK(std::isnan(fast(f, -inf)));
    CHECK(std::isnan(fast(f, std::numeric_limits<float>::quiet_NaN())));
    CHECK(fast(f, 3e38f) == 3e38f);
    CHECK(fast(f, -3e38f) == 0);
  }
}

TEST_CASE("a reciprocal of 1 to 2 by fma alone", "[simt]") {
  double worst = 0;
  for (std::uint32_t bits = 0x3f800000; bits <= 0x40000000; bits += 7) {
    const float d = std::bit_cast<float>(bits);
    worst = std::max(worst, std::fabs(static_cast<double>(on_simt::reciprocal_from_1_to_2(d)) * static_cast<double>(d) - 1));
  }
  CHECK(worst <= 1.2 * 0x1p-24);
}
