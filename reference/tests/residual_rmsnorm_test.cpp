// SPDX-License-Identifier: Apache-2.0
// Tests the golden against values computed by hand.
#include "ops/residual_rmsnorm.hpp"

#include <limits>
#include <vector>

#include "catch_shim.hpp"
#include "reference/tests/golden_testing.hpp"

namespace assay::reference {
void golden(const residual_rmsnorm::Args&, residual_rmsnorm::Golden&, const Rows&);
}

namespace assay {
namespace {

using test::matrix;
using test::vector_of;
using Values = std::vector<double>;

constexpr double kInf = std::numeric_limits<double>::infinity(), kNan = std::numeric_limits<double>::quiet_NaN();

struct Solved {
  Values y, s, square;
};

Solved solve(Values x, Values residual, Values gamma, std::int64_t rows, double epsilon) {
  const auto cols = static_cast<std::int64_t>(gamma.size());
  Solved s{Values(x.size()), Values(x.size()), Values(rows)};
  Values y(x.size()), sum(x.size());
  const residual_rmsnorm::Args a{.x = matrix(x, rows, cols),
                                 .residual = matrix(residual, rows, cols),
                                 .gamma = vector_of(gamma),
                                 .y = matrix(y, rows, cols),
                                 .s = matrix(sum, rows, cols),
                                 .epsilon = epsilon};
  residual_rmsnorm::Golden g{s.y, s.s, s.square};
  reference::golden(a, g, {.total = rows});
  return s;
}

}  // namespace

TEST_CASE("residual_rmsnorm: matches values computed by hand", "[golden]") {
  // s = 1 -3: mean square 5; with epsilon 4, 1/sqrt(9) = 1/3.  s = 2 4: mean square 10; 1/sqrt(14).
  const Solved s = solve({11, 7, 2, 0}, {-10, -10, 0, 4}, {6, 2}, 2, 4);
  CHECK(s.s == Values{1, -3, 2, 4});
  CHECK(s.square == Values{5, 10});
  CHECK(Values(s.y.begin(), s.y.begin() + 2) == Values{2, -2});
  CHECK(std::fabs(s.y[2] - 12 / std::sqrt(14.0)) < 1e-15);
  CHECK(std::fabs(s.y[3] - 8 / std::sqrt(14.0)) < 1e-15);
}

TEST_CASE("residual_rmsnorm: x = -residual gives zeros; without epsilon NaN", "[golden]") {
  const Solved s = solve({7, -1.5}, {-7, 1.5}, {100, 200}, 1, 1e-5);
  CHECK(s.s == Values{0, 0});
  CHECK(s.y == Values{0, 0});
  CHECK(std::isnan(solve({3}, {-3}, {1}, 1, 0).y[0]));
}

TEST_CASE("residual_rmsnorm: NaN makes its row NaN, inf makes itself NaN and the rest of its row 0", "[golden]") {
  const Solved s = solve({1, kNan, 1, -1, 5, 1}, {0, 0, 0, 0, 0, -kInf}, {1, 1}, 3, 0);
  CHECK((std::isnan(s.y[0]) && std::isnan(s.y[1])));
  CHECK(Values(s.y.begin() + 2, s.y.begin() + 5) == Values{1, -1, 0});
  CHECK((s.s[5] == -kInf && std::isnan(s.y[5])));
}

namespace {

// One column in f16, with gamma 1 and epsilon 0.
struct HalfColumn {
  test::HalfMatrix x, residual, y, sum;
  Values one{1};
  residual_rmsnorm::Args a;
  Solved s;
  HalfColumn(const Values& of_x, const Values& of_residual, NormedSum normed)
      : x(rows(of_x), 1, of_x),
        residual(rows(of_x), 1, of_residual),
        y(rows(of_x), 1, Values(of_x.size())),
        sum(y),
        s{Values(of_x.size()), Values(of_x.size()), Values(of_x.size())} {
    a = {.x = x.tensor(),
         .residual = residual.tensor(),
         .gamma = vector_of(one),
         .y = y.tensor(),
         .s = sum.tensor(),
         .epsilon = 0,
         .sum = normed};
    residual_rmsnorm::Golden g = golden();
    reference::golden(a, g, {.total = rows(of_x)});
  }
  residual_rmsnorm::Golden golden() { return {s.y, s.s, s.square}; }
  static std::int64_t rows(const Values& v) { return static_cast<std::int64_t>(v.size()); }
};

}  // namespace

TEST_CASE("residual_rmsnorm: y is computed from the rounded s, or with sum=f32 from the sum itself", "[golden]") {
  // In f16, 2048 + 1 is a tie and rounds to 2048, and 65504 + 65504 to infinity.
  const HalfColumn rounded({2048, 65504}, {1, 65504}, NormedSum::rounded);
  CHECK(rounded.s.s == Values{2048, kInf});
  CHECK(rounded.s.square == Values{2048.0 * 2048, kInf});
  CHECK((rounded.s.y[0] == 1 && std::isnan(rounded.s.y[1])));
  const HalfColumn in_f32({2048, 65504}, {1, 65504}, NormedSum::in_f32);
  CHECK(in_f32.s.s == Values{2048, kInf});
  CHECK(in_f32.s.square == Values{2049.0 * 2049, 131008.0 * 131008});
  CHECK(in_f32.s.y == Values{1, 1});
}

TEST_CASE("residual_rmsnorm: a sum beyond f32 is infinite with either value of sum", "[golden]") {
  const double most = 0x1.fffffep127;
  for (const NormedSum normed : {NormedSum::rounded, NormedSum::in_f32}) {
    const residual_rmsnorm::Args a{.s = {.dtype = f32}, .sum = normed};
    CHECK(residual_rmsnorm::normed(a, most + most) == kInf);
    CHECK(residual_rmsnorm::normed(a, -most) == -most);
  }
}

TEST_CASE("residual_rmsnorm: with sum=f32 the bound is of the sum before it was rounded, which costs two roundings", "[golden]") {
  // The norm of one column is +-1: half of (1 + 2) u for m and epsilon, root, quotient and product 3 u, gamma 1 u, then the
  // output.  With sum=f32 the sum itself costs 1 u, and half of 2 u in m.
  HalfColumn rounded({2048}, {1}, NormedSum::rounded), in_f32({2048}, {1}, NormedSum::in_f32);
  const double output = 0x1p-11 + 0x1p-25, u = 0x1p-24;
  const auto before_output = [&](HalfColumn& column) {
    return residual_rmsnorm::bound(column.a, column.golden(), {}, Errors::coherent, 0, 0) / kSecondOrder - output;
  };
  CHECK(std::fabs(before_output(rounded) / (5.5 * u) - 1) < 1e-2);
  CHECK(std::fabs(before_output(in_f32) / (7.5 * u) - 1) < 1e-2);
  CHECK(residual_rmsnorm::bound(in_f32.a, in_f32.golden(), {}, Errors::coherent, 1, 0) == 0);
}

}  // namespace assay
