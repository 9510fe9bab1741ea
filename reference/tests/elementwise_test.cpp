// SPDX-License-Identifier: Apache-2.0
// Tests the formulas of gelu, silu_mul, add and embedding against values computed by hand.
#include <limits>
#include <vector>

#include "catch_shim.hpp"
#include "ops/add.hpp"
#include "ops/embedding.hpp"
#include "ops/gelu.hpp"
#include "ops/silu_mul.hpp"
#include "reference/tests/golden_testing.hpp"
#include "reference/tests/solving.hpp"
#include "validate/problem/typed/op_adapter.hpp"

namespace assay {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

Tensor rows_of(std::vector<double>& v, std::int64_t rows) {
  return test::matrix(v, rows, static_cast<std::int64_t>(v.size()) / rows);
}

std::vector<double> gelu_of(std::vector<double> x, Activation form) {
  std::vector<double> y(x.size());
  test::solve<gelu>({.x = rows_of(x, 1), .y = rows_of(y, 1), .form = form}, {y});
  return y;
}

}  // namespace

TEST_CASE("gelu: matches values computed by hand", "[golden]") {
  // z Phi(z): Phi(1) and Phi(2) from tables; for large |z| gelu is z or zero.
  const std::vector<double> erf = gelu_of({1, -1, 2, 0, 64, -64}, Activation::gelu_erf);
  const double expected[] = {0.8413447460685429, -0.15865525393145707, 1.9544997361036416, 0, 64, 0};
  for (std::size_t i = 0; i < 6; ++i) CHECK(std::fabs(erf[i] - expected[i]) < 1e-14);
  // sqrt(2/pi) 1.044715 = 0.83356..., tanh of it 0.68238...: 0.84119...
  const std::vector<double> tanh = gelu_of({1, -1}, Activation::gelu_tanh);
  CHECK(std::fabs(tanh[0] - 0.8411919906082768) < 1e-13);
  CHECK(std::fabs(tanh[1] + 0.1588080093917232) < 1e-13);
  for (const Activation form : {Activation::gelu_tanh, Activation::gelu_erf}) {
    const std::vector<double> special = gelu_of({kInfinity, -kInfinity, 1}, form);
    CHECK(special[0] == kInfinity);
    CHECK(std::isnan(special[1]));
    CHECK(special[2] > 0.84);
  }
}

TEST_CASE("silu_mul: matches values computed by hand", "[golden]") {
  // silu(0) = 0; silu(1) = e / (1 + e); silu(ln 3) = ln 3 * 3/4; the gate is the first input.
  std::vector<double> gate{0, 1, std::log(3.0), -1000, 1000, -kInfinity}, up{5, 2, 4, 7, -3, 1}, y(6);
  test::solve<silu_mul>({.gate = rows_of(gate, 2), .up = rows_of(up, 2), .y = rows_of(y, 2)}, {y});
  const double expected[] = {0, 2 * std::numbers::e / (1 + std::numbers::e), 3 * std::log(3.0), 0, -3000};
  for (std::size_t i = 0; i < 5; ++i) CHECK(std::fabs(y[i] - expected[i]) < 1e-13);
  CHECK(std::isnan(y[5]));
}

TEST_CASE("add: matches values computed by hand, other rows are not written", "[golden]") {
  std::vector<double> a{1, 2, 3, kInfinity, 5, 6}, b{10, -2, 0.5, -kInfinity, 1, 1}, y(6, -7);
  test::solve<add>({.a = rows_of(a, 3), .b = rows_of(b, 3), .y = rows_of(y, 3)}, {y}, {.total = 3, .sample = {0, 1}});
  CHECK(y[0] == 11);
  CHECK(y[1] == 0);
  CHECK(y[2] == 3.5);
  CHECK(std::isnan(y[3]));
  CHECK(y[4] == -7);
  CHECK(y[5] == -7);
}

TEST_CASE("embedding: matches values computed by hand; ids out of range are illegal, each end", "[golden]") {
  std::vector<double> table{0, 1, 10, 11, 20, 21}, y(8, -7);
  std::vector<std::int32_t> ids{2, 0, 2, 1};
  const Tensor tokens{.data = ids.data(), .dtype = i32, .rank = 1, .shape = {4}, .stride = {1}};
  const embedding::Args a{.table = rows_of(table, 3), .ids = tokens, .y = rows_of(y, 4)};
  test::solve<embedding>(a, {y});
  CHECK(y == std::vector<double>{20, 21, 0, 1, 20, 21, 10, 11});
  CHECK(legal_arguments<embedding>(a));
  ids[3] = 3;
  CHECK(legal_arguments<embedding>(a).why == "ids[3] is 3, not one of 0 ... 2");
  ids[3] = -1;
  CHECK(legal_arguments<embedding>(a).why == "ids[3] is -1, not one of 0 ... 2");
}

}  // namespace assay
