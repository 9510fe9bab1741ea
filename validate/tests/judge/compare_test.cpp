// SPDX-License-Identifier: Apache-2.0
#include "validate/judge/compare.hpp"

#include <cmath>
#include <limits>

#include "catch_shim.hpp"
#include "validate/tests/fixed_problem.hpp"
#include "validate/values/islands.hpp"
#include "validate/values/tensor_bits.hpp"
#include "validate/worker/shared_memory.hpp"

using namespace assay;
using test::FixedProblem;
using test::OwnedTensor;

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// Judges one element.
Comparison one(double got, double golden, double bound, DType dtype = f32, bool exact = false) {
  OwnedTensor t(dtype, {1});
  t.set(0, got);
  return compare(FixedProblem({golden}, bound), {}, 0, t.get(), exact);
}
bool passes(double got, double golden, double bound, DType dtype = f32, bool exact = false) {
  return one(got, golden, bound, dtype, exact).wrong == 0;
}

}  // namespace

TEST_CASE("compare: an error up to the bound passes, and beyond it fails") {
  CHECK(passes(1.0, 1.0, 0));
  CHECK(passes(1.5, 1.0, 0.5));
  CHECK_FALSE(passes(1.5 + 0x1p-20, 1.0, 0.5));
  CHECK_FALSE(passes(0.5 - 0x1p-20, 1.0, 0.5));
  CHECK(one(1.25, 1.0, 0.5).margin == 0.5);
  CHECK(one(1.0 + 0x1p-23, 1.0, 0).margin == kInf);
}

TEST_CASE("compare: a zero needs the sign of the golden where the bound is 0, and nowhere else") {
  CHECK(passes(-0.0, -0.0, 0));
  CHECK_FALSE(passes(0.0, -0.0, 0));
  CHECK_FALSE(passes(-0.0, 0.0, 0));
  CHECK(passes(0.0, -0.0, 0x1p-149));
  CHECK(passes(0.0, -0.0, 0, f32, true));  // an exact probe says nothing of signs
}

TEST_CASE("compare: the largest absolute error is that of all finite elements, right or wrong") {
  OwnedTensor t(f32, {4});
  t.set(0, 1.25);
  t.set(1, -3);
  t.set(2, kInf);
  t.set(3, -kInf);
  const FixedProblem problem({1, -2.5, kInf, 7}, 0.3);
  CHECK(compare(problem, {}, 0, t.get(), false).error == 0.5);
  t.set(1, -2.5);
  CHECK(compare(problem, {}, 0, t.get(), false).error == 0.25);
  CHECK(one(kNan, 1, 1).error == 0);
}

TEST_CASE("compare: NaN passes a finite bound only if the golden is NaN, and a NaN bound passes no error") {
  CHECK_FALSE(passes(kNan, 1.0, 1e30));
  CHECK_FALSE(passes(kNan, kInf, 1));
  CHECK_FALSE(passes(1.0, kNan, 1e30));
  CHECK_FALSE(passes(kInf, kNan, 1e30));
  CHECK(passes(kNan, kNan, 0));
  CHECK_FALSE(passes(2.0, 1.0, kNan));
  CHECK_FALSE(passes(2.0, 1.0, -5));
  CHECK(one(kNan, 1.0, 1e30).margin == kInf);
}

TEST_CASE("compare: an infinity matches only itself") {
  for (const bool exact : {false, true}) {
    CHECK(passes(kInf, kInf, 0, f32, exact));
    CHECK(passes(-kInf, -kInf, 0, f32, exact));
    CHECK_FALSE(passes(-kInf, kInf, 1e300, f32, exact));
    CHECK_FALSE(passes(3e38, kInf, 1e300, f32, exact));
    CHECK_FALSE(passes(kInf, 1.0, 1, f32, exact));
    CHECK(passes(kInf, 1e39, 1, f32, exact));
  }
}

TEST_CASE(
    "compare: where the bound is infinite any value is right for a finite golden, and any infinity or NaN for an infinite one") {
  for (const double got : {1.0, -1e30, kInf, -kInf, kNan}) CHECK(passes(got, 1.0, kInf));
  for (const double got : {kInf, -kInf, kNan}) CHECK(passes(got, kInf, kInf));
  CHECK_FALSE(passes(1.0, kNan, kInf));
  CHECK_FALSE(passes(1.0, kInf, kInf));
}

TEST_CASE("compare: finite and infinite are both right only within the bound of the overflow threshold") {
  constexpr double threshold = 65520, largest = 65504;
  for (const double sign : {1.0, -1.0}) {
    // The golden rounds to infinity.
    CHECK(passes(sign * kInf, sign * threshold, 0, f16));
    CHECK(passes(sign * largest, sign * threshold, 33, f16));
    CHECK_FALSE(passes(sign * largest, sign * threshold, 31, f16));
    CHECK_FALSE(passes(sign * 5, sign * threshold, 32, f16));
    CHECK_FALSE(passes(0, sign * (threshold + 10), 32, f16));
    CHECK_FALSE(passes(-sign * largest, sign * threshold, 32, f16));
    CHECK_FALSE(passes(-sign * kInf, sign * threshold, 32, f16));
    CHECK_FALSE(passes(kNan, sign * threshold, 32, f16));
    CHECK(one(sign * 5, sign * threshold, 32, f16).margin == kInf);
    // The golden rounds to a finite value.
    CHECK(passes(sign * kInf, sign * 65510, 10, f16));
    CHECK_FALSE(passes(sign * kInf, sign * 65510, 9.9, f16));
    CHECK_FALSE(passes(-sign * kInf, sign * 65510, 10, f16));
    CHECK_FALSE(passes(sign * kInf, sign * 60000, 32, f16));
  }
}

TEST_CASE("compare: an output of fewer bits than f32 is a number to which a result within the bound is rounded") {
  constexpr double golden = 1.9, below = 1.8984375, above = 1.90625, middle = 1.90234375;  // of bf16
  const auto with_rounding = [](double before, DType t) { return before + rounding_error(t, golden, before); };
  for (const double sign : {1.0, -1.0}) {
    CHECK(passes(sign * below, sign * golden, with_rounding(0, bf16), bf16));
    CHECK_FALSE(passes(sign * above, sign * golden, with_rounding(0, bf16), bf16));
    CHECK_FALSE(passes(sign * above, sign * golden, with_rounding(0.999 * (middle - golden), bf16), bf16));
    CHECK(passes(sign * above, sign * golden, with_rounding(1.001 * (middle - golden), bf16), bf16));
    CHECK(passes(sign * 1.875, sign * golden, with_rounding(0, e4m3), e4m3));
    CHECK_FALSE(passes(sign * 2, sign * golden, with_rounding(0.03, e4m3), e4m3));
    CHECK(passes(sign * 2, sign * golden, with_rounding(0.04, e4m3), e4m3));
  }
  CHECK(std::isfinite(one(above, golden, with_rounding(0, bf16), bf16).margin));
  CHECK(passes(3, 3.49, 0.5, i8));
  CHECK_FALSE(passes(4, 3.49, 0.5, i8));
  CHECK(passes(4, 3.49, 0.52, i8));
}

TEST_CASE("compare: exact mode requires the golden rounded to the dtype, whatever the bound") {
  CHECK(passes(1.0 + 0x1p-10, 1.0 + 0x1p-10, 0, f16, true));
  CHECK_FALSE(passes(1.0 + 0x1p-10, 1.0, 1, f16, true));
  CHECK(passes(1.0, 1.0 + 0x1p-12, 0, f16, true));
  CHECK(passes(-0.0, 0.0, 0, f16, true));
  CHECK(one(1.0 + 0x1p-10, 1.0, 1, f16, true).margin == kInf);
  CHECK(one(1.0, 1.0, 1, f16, true).bound == 0);
}

TEST_CASE("compare: elements in which a zero would pass for another value are loose") {
  const auto loose = [](std::vector<double> golden, double bound) {
    OwnedTensor t(f32, {static_cast<std::int64_t>(golden.size())});
    t.set(golden);
    return compare(FixedProblem(golden, bound), {}, 0, t.get(), false).loose;
  };
  CHECK(loose({0, 0.1, -0.1, 0.2}, 0.1) == 2);
  CHECK(loose({0, 1, kNan, kInf}, kInf) == 1);
  CHECK(loose({1, 2}, 0.5) == 0);
}

TEST_CASE("compare: a check that zeros would pass is powerless") {
  const auto powerless = [](std::vector<double> golden, double bound, bool exact = false) {
    OwnedTensor t(f32, {static_cast<std::int64_t>(golden.size())});
    t.set(golden);
    return compare(FixedProblem(golden, bound), {}, 0, t.get(), exact).powerless;
  };
  CHECK(powerless({0, 0, 0}, 0));
  CHECK(powerless({0.1, -0.1}, 0.1));
  CHECK_FALSE(powerless({0.1, -0.1, 0.11}, 0.1));
  CHECK_FALSE(powerless({0, 0, 1}, 2, true));
  CHECK_FALSE(powerless({0, kNan}, 1));
  CHECK_FALSE(powerless({0, kInf}, 1));
  OwnedTensor f(f16, {1});
  CHECK_FALSE(compare(FixedProblem({65520}, 32), {}, 0, f.get(), false).powerless);
  OwnedTensor none(f32, {0, 3});
  const Comparison empty = compare(FixedProblem({}, 1), {}, 0, none.get(), false);
  CHECK(empty.compared == 0);
  CHECK(empty.worst == -1);
}

TEST_CASE("compare: zeros that are right differ from zeros that the bound lets pass") {
  const auto zeros = [](std::vector<double> golden, double bound, DType dtype = f32) {
    OwnedTensor t(dtype, {static_cast<std::int64_t>(golden.size())});
    return compare(FixedProblem(golden, bound), {}, 0, t.get(), false).zeros;
  };
  CHECK(zeros({0, -0.0, 0}, 0.1));
  CHECK(zeros({0, 0x1p-30}, 0x1p-25, f16));
  CHECK_FALSE(zeros({0, 0x1p-30}, 0x1p-25));
  CHECK_FALSE(zeros({0, kNan}, 0.1));
}

TEST_CASE("compare: a single wrong element is found wherever it is") {
  struct Shape {
    std::int64_t rows, cols, stride;
  };
  for (const Shape s : {Shape{1, 1, 0}, {3, 7, 0}, {7, 33, 36}, {129, 65, 0}, {2, 4099, 4112}}) {
    const std::int64_t n = s.rows * s.cols;
    std::vector<double> golden(static_cast<std::size_t>(n));
    for (std::int64_t i = 0; i < n; ++i) golden[static_cast<std::size_t>(i)] = static_cast<double>(i % 37 + 1);
    OwnedTensor t(f32, {s.rows, s.cols}, s.stride);
    t.set(golden);
    const FixedProblem problem(golden, 0.25);
    CHECK(compare(problem, {}, 0, t.get(), false).wrong == 0);
    std::int64_t missed = 0;
    const std::int64_t step = n > 3000 ? 61 : 1;
    for (std::int64_t i = 0; i < n; i = i + step < n || i == n - 1 ? i + step : n - 1) {
      const double right = golden[static_cast<std::size_t>(i)];
      t.set(i, right + 0.375);
      const Comparison c = compare(problem, {}, 0, t.get(), false);
      missed += !(c.wrong == 1 && c.worst == i && c.margin == 1.5 && c.got == right + 0.375 && c.golden == right &&
                  c.bound == 0.25 && c.compared == n);
      t.set(i, right);
    }
    CHECK(missed == 0);
  }
}

TEST_CASE("compare: the worst element has the largest margin; the first on a tie") {
  OwnedTensor t(f32, {2, 9000});  // several chunks
  std::vector<double> golden(18000, 1.0), bounds(18000, 1.0);
  bounds[17000] = 0x1p-8;
  t.set(golden);
  t.set(100, 1.5);  // a larger error, a smaller share of its bound
  t.set(17000, 1 + 0x1p-8);
  Comparison c = compare(FixedProblem(golden, bounds), {}, 0, t.get(), false);
  CHECK(c.worst == 17000);
  CHECK(c.margin == 1);
  CHECK(c.wrong == 0);
  t.set(16000, kNan);
  t.set(9500, kNan);
  c = compare(FixedProblem(golden, bounds), {}, 0, t.get(), false);
  CHECK(c.worst == 9500);
  CHECK(c.wrong == 2);
}

TEST_CASE("compare: elements are the same if their bits are equal, except for the payload of a NaN") {
  for (const DType dtype : {f16, bf16, f32}) {
    OwnedTensor a(dtype, {3, 5}, 8), b(dtype, {3, 5}, 11, std::byte{0x5a});
    const std::vector<double> values{1, -2, 0, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14};
    a.set(values);
    b.set(values);
    CHECK(same_elements(a.get(), b.get()));
    for (std::int64_t i = 0; i < 15; ++i) {
      b.set(i, 99);
      CHECK_FALSE(same_elements(a.get(), b.get()));
      b.set(i, kNan);
      CHECK_FALSE(same_elements(a.get(), b.get()));
      b.set(i, values[static_cast<std::size_t>(i)]);
    }
    b.set(2, -0.0);
    CHECK_FALSE(same_elements(a.get(), b.get()));
    // 0xff... and the usual quiet NaN differ in every payload bit.
    a.set(2, kNan);
    const auto element = static_cast<std::size_t>(size_of(dtype));
    std::memset(b.bytes().data() + 2 * element, 0xff, element);
    CHECK(same_elements(a.get(), b.get()));
  }
}

TEST_CASE("compare: between rows that lie far apart, the bytes next to each row are compared, and no others") {
  constexpr std::size_t kApart = std::size_t{3} << 30;
  const std::byte garbage{0x5a};
  Tensor t{.data = nullptr, .dtype = f16, .rank = 2, .shape = {2, 8}, .stride = {kApart / 2, 1}};
  const std::size_t bytes = kApart + 16;
  const SharedMemory memory(bytes);
  t.data = memory.data();
  const std::vector<Island> parts = islands(t, bytes);
  REQUIRE(parts.size() == 2);
  CHECK((parts[0].begin == 0 && parts[0].end == 16 + kShore));
  CHECK((parts[1].begin == kApart - kShore && parts[1].end == bytes));
  for (const Island& i : parts) std::memset(memory.data() + i.begin, 0x5a, i.bytes());
  CHECK(gaps_intact(t, bytes, garbage));
  for (const std::size_t at : {std::size_t{16}, 15 + kShore, kApart - kShore, kApart - 1}) {
    memory.data()[at] = std::byte{0};
    CHECK_FALSE(gaps_intact(t, bytes, garbage));
    memory.data()[at] = garbage;
  }
  CHECK(gaps_intact(t, bytes, garbage));
}

TEST_CASE("compare: one byte written between two rows is found") {
  const std::byte garbage{0x5a};
  OwnedTensor t(f16, {3, 5}, 8, garbage);
  const std::size_t bytes = t.bytes().size();
  REQUIRE(bytes == 2 * (2 * 8 + 5));
  t.set(std::vector<double>(15, 1.0));
  CHECK(gaps_intact(t.get(), bytes, garbage));
  for (std::size_t b = 0; b < bytes; ++b) {
    const std::byte old = t.bytes()[b];
    t.bytes()[b] = std::byte{0x77};
    CHECK(gaps_intact(t.get(), bytes, garbage) == (b % 16 < 10));
    t.bytes()[b] = old;
  }
  OwnedTensor dense(f16, {3, 5});
  CHECK(gaps_intact(dense.get(), dense.bytes().size(), garbage));
  OwnedTensor cube(f32, {2, 3, 5}, 7, garbage);
  cube.set(std::vector<double>(30, 1.0));
  CHECK(gaps_intact(cube.get(), cube.bytes().size(), garbage));
  Tensor swapped = cube.get();  // the same bytes as [3, 2, 5], whose first axis lies inside the second
  std::swap(swapped.shape[0], swapped.shape[1]);
  std::swap(swapped.stride[0], swapped.stride[1]);
  CHECK(gaps_intact(swapped, cube.bytes().size(), garbage));
  cube.bytes()[3 * 7 * 4 - 1] = std::byte{0};  // between the two matrices
  CHECK_FALSE(gaps_intact(cube.get(), cube.bytes().size(), garbage));
  CHECK_FALSE(gaps_intact(swapped, cube.bytes().size(), garbage));
}
