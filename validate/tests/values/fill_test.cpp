// SPDX-License-Identifier: Apache-2.0
#include "validate/values/fill.hpp"

#include <bit>
#include <cmath>
#include <set>
#include <string>

#include "catch_shim.hpp"
#include "validate/cases/op_shape.hpp"
#include "validate/ops/elementwise_fills.hpp"
#include "validate/values/common_fills.hpp"

using namespace assay;

namespace {

struct Matrix {
  std::int64_t rows, cols;
  DType dtype = f32;
  int tensor = 0;
  Role role = Role::input;
  std::uint64_t seed = 1;
};

// The values of a tensor as the kernel gets them: rounded to the dtype.
std::vector<double> values(std::string_view fill, const Matrix& m) {
  const Fill* f = find_fill(OpShape{}, fill);
  REQUIRE(f);
  Dims dims;
  dims[Axis::rows] = m.rows;
  dims[Axis::cols] = m.cols;
  const std::int64_t shape[] = {m.rows, m.cols};
  const FillSite site{dims, m.dtype, "x", m.tensor, m.role, shape, m.seed};
  std::vector<double> out;
  for (std::int64_t i = 0; i < m.rows * m.cols; ++i) out.push_back(round_to(m.dtype, f->value(site, i)));
  return out;
}

bool special(double v) { return !std::isfinite(v); }

}  // namespace

TEST_CASE("fill: names are unique, and each says what it shows") {
  std::set<std::string_view> names;
  for (const Fill& f : common_fills()) {
    CHECK(names.insert(f.name).second);
    CHECK_FALSE(f.shows.empty());
    CHECK(f.value);
  }
  CHECK(names.size() >= 18);
}

TEST_CASE("fill: the same seed gives the same values, another seed or tensor others") {
  for (const Fill& f : common_fills()) {
    INFO(f.name);
    const auto bits = [](const std::vector<double>& v) {
      std::vector<std::uint64_t> out;
      for (const double x : v) out.push_back(std::bit_cast<std::uint64_t>(x));
      return out;
    };
    const auto first = bits(values(f.name, {20, 33}));
    CHECK(first == bits(values(f.name, {20, 33})));
    CHECK(first != bits(values(f.name, {20, 33, f32, 1})));
    if (f.name != "ramp") CHECK(first != bits(values(f.name, {20, 33, f32, 0, Role::input, 2})));
  }
}

TEST_CASE("fill: only the fills that promise specials have any, in every dtype and role") {
  for (const Fill& f : common_fills())
    if (f.name != "special_at_zeros")  // in one role or the other
      for (const DType t : kActivationDTypes)
        for (const Role role : {Role::input, Role::weight}) {
          INFO(f.name << " " << name(t));
          bool any = false;
          for (const double v : values(f.name, {40, 65, t, 0, role})) any |= special(v);
          const bool promised =
              f.name == "nan_in_row" || f.name == "inf_in_row" || f.name == "neg_inf_in_row" || f.name == "nan_at_ends";
          CHECK(any == (promised && role == Role::input));
        }
}

TEST_CASE("fill: specials spoil one row at least, never all of several, one element each") {
  for (const std::string_view fill : {"nan_in_row", "inf_in_row", "neg_inf_in_row", "special_later_input"})
    for (const std::int64_t rows : {1, 2, 3, 15, 16, 17, 31, 33, 131})
      for (std::uint64_t seed = 0; seed < 20; ++seed) {
        INFO(fill << " rows " << rows << " seed " << seed);
        const int holder = fill == "special_later_input" ? 1 : 0;
        const auto v = values(fill, {rows, 9, f16, holder, Role::input, seed});
        std::int64_t spoiled = 0;
        for (std::int64_t r = 0; r < rows; ++r) {
          int count = 0;
          for (std::int64_t c = 0; c < 9; ++c) count += special(v[static_cast<std::size_t>(r * 9 + c)]);
          CHECK(count <= 1);
          spoiled += count;
        }
        CHECK(spoiled >= 1);
        if (rows > 1) CHECK(spoiled < rows);
        for (const double x : values(fill, {rows, 9, f16, 1 - holder, Role::input, seed})) CHECK(std::isfinite(x));
      }
}

TEST_CASE("fill: each class is what its name says") {
  const Matrix m{16, 257};
  SECTION("uniform01") {
    for (const double v : values("uniform01", m)) CHECK((v >= 0 && v <= 1));
  }
  SECTION("all_equal is one value that f32 rounds") {
    const auto v = values("all_equal", m);
    CHECK(std::set<double>(v.begin(), v.end()).size() == 1);
    CHECK(round_to(f16, v[0]) != v[0]);
  }
  SECTION("constant_rows") {
    const auto v = values("constant_rows", m);
    CHECK(std::set<double>(v.begin(), v.end()).size() == 16);
    for (std::size_t i = 0; i < v.size(); ++i) CHECK(v[i] == v[i / 257 * 257]);
  }
  SECTION("large means, on the first input only") {
    for (const auto& [fill, mean] : {std::pair{"large_mean_10", 10.0}, {"large_mean_100", 100.0}, {"large_mean_1000", 1000.0}}) {
      double sum = 0, later = 0;
      for (const double v : values(fill, m)) sum += v;
      for (const double v : values(fill, {16, 257, f32, 1})) later += v;
      CHECK(std::abs(sum / (16 * 257) - mean) < 0.1);
      CHECK(std::abs(later / (16 * 257)) < 0.1);
    }
  }
  SECTION("one_outlier") {
    const auto v = values("one_outlier", {16, 257, f16});
    for (std::size_t r = 0; r < 16; ++r) {
      int large = 0;
      for (std::size_t c = 0; c < 257; ++c) large += std::abs(v[r * 257 + c]) >= 1000;
      CHECK(large == 1);
    }
  }
  SECTION("subnormals of the dtype, and small normals") {
    for (const DType t : kActivationDTypes) {
      const double least = std::ldexp(1, info(t).format.min_exponent);
      int below = 0, above = 0;
      for (const double v : values("subnormals", {16, 257, t})) {
        CHECK(std::abs(v) <= 16 * least);
        below += v != 0 && std::abs(v) < least;
        above += std::abs(v) >= least;
      }
      CHECK(below > 1000);
      CHECK(above > 1000);
    }
  }
  SECTION("wide_range keeps sums of squares inside f32") {
    for (const DType t : kActivationDTypes) {
      double least = 1e300, most = 0;
      for (const double v : values("wide_range", {16, 257, t})) {
        least = std::min(least, std::abs(v));
        most = std::max(most, std::abs(v));
      }
      CHECK(most <= (t == f16 ? 0x1p15 : 0x1p40));
      CHECK(most / least > 0x1p25);
    }
  }
  SECTION("near_max") {
    bool largest = false;
    for (const double v : values("near_max", {16, 257, f16})) {
      CHECK(std::abs(v) >= 59000);
      CHECK(std::abs(v) <= 65504);
      largest |= std::abs(v) == 65504;
    }
    CHECK(largest);
    for (const double v : values("near_max", m)) CHECK((std::abs(v) >= 0x1p39 && std::abs(v) <= 0x1p40));
  }
  SECTION("zero_rows, signed_zeros") {
    int zero_rows = 0, minus = 0, plus = 0;
    const auto v = values("zero_rows", m);
    for (std::size_t r = 0; r < 16; ++r) {
      std::size_t zeros = 0;
      for (std::size_t c = 0; c < 257; ++c) zeros += v[r * 257 + c] == 0;
      CHECK((zeros == 0 || zeros == 257));
      zero_rows += zeros == 257;
    }
    CHECK((zero_rows > 0 && zero_rows < 16));
    for (const double x : values("signed_zeros", m)) {
      minus += x == 0 && std::signbit(x);
      plus += x == 0 && !std::signbit(x);
    }
    CHECK((minus > 800 && plus > 800));
  }
  SECTION("ramp tells columns, neighbouring rows and tensors apart in 11 bits") {
    const auto v = values("ramp", {2, 1021, f16}), w = values("ramp", {2, 1021, f16, 1});
    CHECK(std::set<double>(v.begin(), v.begin() + 1021).size() == 1021);
    int same_row = 0, same_tensor = 0;
    for (std::size_t c = 0; c < 1021; ++c) {
      same_row += v[c] == v[1021 + c];
      same_tensor += v[c] == w[c];
    }
    CHECK(same_row <= 1);
    CHECK(same_tensor == 0);
  }
  SECTION("fresh_ends: weights end in zeros, on all four sides, and are normal within") {
    constexpr std::int64_t kRows = 5, kCols = 65;
    const auto fresh = values("fresh_ends", {kRows, kCols, f32, 2, Role::weight});
    const auto normal = values("normal", {kRows, kCols, f32, 2, Role::weight});
    for (std::size_t i = 0; i < fresh.size(); ++i) {
      const auto row = static_cast<std::int64_t>(i) / kCols, col = static_cast<std::int64_t>(i) % kCols;
      const bool end = row == 0 || row == kRows - 1 || col < 4 || col >= kCols - 4;
      CHECK(fresh[i] == (end ? 0 : normal[i]));
    }
  }
  SECTION("fresh_starts: the first half of a gamma's row is 1, of another weight's 0, the rest normal") {
    const auto fresh = values("fresh_starts", {3, 65, f32, 2, Role::weight});
    const auto normal = values("normal", {3, 65, f32, 2, Role::weight});
    for (std::size_t i = 0; i < fresh.size(); ++i) CHECK(fresh[i] == (i % 65 < 32 ? 0 : normal[i]));
    CHECK(values("fresh_starts", {3, 65, f32}) == values("normal", {3, 65, f32}));
  }
  SECTION("weights are N(0, 1) beside every class of inputs") {
    for (const Fill& f : common_fills()) {
      if (f.name == "ramp" || f.name == "subnormals" || f.name == "special_at_zeros" || f.name.starts_with("fresh_")) continue;
      INFO(f.name);
      CHECK(values(f.name, {4, 65, f32, 2, Role::weight}) == values("normal", {4, 65, f32, 2, Role::weight}));
    }
  }
}

TEST_CASE("fill: special_at_zeros has specials where another tensor's row is zeros, in either role") {
  constexpr std::int64_t kRows = 33, kCols = 9;
  std::set<bool> first_is_zero;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    CAPTURE(seed);
    const auto x = values("special_at_zeros", {kRows, kCols, f32, 0, Role::input, seed});
    const auto y = values("special_at_zeros", {kRows, kCols, f32, 1, Role::input, seed});
    const auto of_row = [](const std::vector<double>& v, std::int64_t row, auto&& is) {
      return std::count_if(v.begin() + row * kCols, v.begin() + (row + 1) * kCols, is);
    };
    const auto zero = [](double v) { return v == 0; };
    int met = 0;
    for (std::int64_t row = 0; row < kRows; ++row) {
      const auto zeros = of_row(x, row, zero), others = of_row(y, row, zero);
      CHECK((zeros == kCols) == (of_row(y, row, special) == 1));
      CHECK((others == kCols) == (of_row(x, row, special) == 1));
      met += zeros == kCols || others == kCols;
      if (zeros + others) first_is_zero.insert(zeros == kCols);
    }
    CHECK((met == 2 || met == 3));
  }
  CHECK(first_is_zero.size() == 2);
}

TEST_CASE("fill: special_pairs has every pair of its values in 169 elements") {
  const Dims dims;
  const std::int64_t shape[] = {1, 169};
  std::set<std::pair<std::uint64_t, std::uint64_t>> pairs;
  for (std::int64_t i = 0; i < 169; ++i) {
    const auto bits = [&](int tensor) {
      const FillSite s{dims, f16, tensor ? "b" : "a", tensor, Role::input, shape, 1};
      return std::bit_cast<std::uint64_t>(elementwise_fills::special_pairs(s, i));
    };
    pairs.emplace(bits(0), bits(1));
  }
  CHECK(pairs.size() == 169);
}

TEST_CASE("fill: round_place gives multiples of 8 and the last index") {
  constexpr std::int64_t extent = 33001;
  const std::int64_t shape[] = {400};
  const Contents classes = indices_of(Axis::vocab);
  Dims dims;
  dims[Axis::vocab] = extent;
  const FillSite site{dims, i32, "target", 1, Role::input, shape, 1, &classes};
  std::set<std::int64_t> seen;
  for (std::int64_t i = 0; i < 400; ++i) {
    const std::int64_t place = round_place(site, i);
    CHECK((place >= 0 && place < extent && (place % 8 == 0 || place == extent - 1)));
    seen.insert(place);
  }
  CHECK(seen.size() > 100);
  dims[Axis::vocab] = 1;
  CHECK(round_place(site, 3) == 0);
}

TEST_CASE("fill: a tensor of rank 1 or 0 is one row") {
  const Dims dims;
  const std::int64_t shape[] = {9};
  for (const Fill& f : common_fills()) {
    int specials = 0;
    for (std::int64_t i = 0; i < 9; ++i) specials += special(f.value({dims, f32, "x", 0, Role::input, shape, 1}, i));
    CHECK(specials <= 1);
    f.value({dims, f32, "x", 0, Role::input, {}, 1}, 0);
  }
}
