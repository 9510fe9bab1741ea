// SPDX-License-Identifier: Apache-2.0
#include "validate/judge/pattern.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <limits>

#include "catch_shim.hpp"
#include "validate/tests/fixed_problem.hpp"

using namespace assay;
using test::FixedProblem;
using test::OwnedTensor;

namespace {

// Makes outputs of rows x cols that are wrong where `wrong` says so.
struct Planted {
  std::int64_t rows, cols, row_tile = 0, col_tile = 0;
  double by = 9;
  std::vector<std::int64_t> sample{};

  Pattern found(const std::function<bool(std::int64_t, std::int64_t)>& wrong,
                const std::function<double(double)>& to = {}) const {
    std::vector<double> golden(static_cast<std::size_t>(rows * cols));
    for (std::size_t i = 0; i < golden.size(); ++i) golden[i] = 1 + static_cast<double>(i % 97);
    OwnedTensor t(f32, {rows, cols}, cols + 3);
    t.set(golden);
    for (std::int64_t i = 0; i < rows * cols; ++i)
      if (wrong(i / cols, i % cols)) {
        const double right = golden[static_cast<std::size_t>(i)];
        t.set(i, to ? to(right) : right + by + static_cast<double>(i % 7));
      }
    FixedProblem problem(golden, 1e-3);
    problem.row_length = cols;
    problem.solve(sample);
    return pattern(problem, {}, 0, t.get(), false,
                   {{Axis::rows, Axis::cols}, {row_tile, col_tile}, {{"rows", rows}, {"cols", cols}}});
  }
  std::string text(const std::function<bool(std::int64_t, std::int64_t)>& wrong) const { return found(wrong).text; }
};

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

}  // namespace

TEST_CASE("pattern: wrong elements are told by their axes") {
  const Planted p{20, 60};
  CHECK(p.text([](auto, auto) { return true; }) == "1,200 of 1,200 wrong: every element");
  CHECK(p.text([](auto r, auto c) { return r == 3 && c == 7; }) == "1 of 1,200 wrong: row 3, col 7");
  CHECK(p.text([](auto r, auto) { return r == 3 || r == 7; }) ==
        "120 of 1,200 wrong: every element of rows 3 and 7; none elsewhere");
  CHECK(p.text([](auto r, auto) { return r >= 12; }) == "480 of 1,200 wrong: every element of rows ≥ 12; none elsewhere");
  CHECK(p.text([](auto r, auto c) { return r < 2 && c >= 50; }) ==
        "20 of 1,200 wrong: every element of rows < 2, cols ≥ 50; none elsewhere");
  CHECK(p.text([](auto, auto c) { return c == 59; }) == "20 of 1,200 wrong: every element of the last col 59; none elsewhere");
  CHECK(p.text([](auto, auto c) { return c % 8 == 3; }) ==
        "160 of 1,200 wrong: every element of every 8th col from 3; none elsewhere");
  CHECK(p.text([](auto, auto c) { return c % 16 >= 8; }) ==
        "560 of 1,200 wrong: every element of cols 8..15 of every 16; none elsewhere");
  CHECK(p.text([](auto r, auto) { return r == 1 || r == 4 || r == 5; }) ==
        "180 of 1,200 wrong: every element of rows 1, 4 and 5; none elsewhere");
  CHECK(p.text([](auto r, auto) { return r == 1 || r == 2 || r == 4 || r == 5 || r == 9; }) ==
        "300 of 1,200 wrong: every element of 5 of 20 rows (1..9); none elsewhere");
  CHECK(p.text([](auto r, auto c) { return r >= 10 && (r + c) % 2 == 0; }) ==
        "300 of 1,200 wrong: 50 % of those in rows ≥ 10; none elsewhere");
  CHECK(p.text([](auto r, auto c) { return c == r + 4; }) == "20 of 1,200 wrong: those with col = row +4");
}

TEST_CASE("pattern: every axis has a word") {
  const std::vector<double> golden{1, 2, 3};
  std::vector<Extent> extents(kAxes.begin(), kAxes.end());
  extents.insert(extents.end(), {Axis::one, blocks(Axis::cols, 128), Axis{"experts"}, Axis{"experts", "", "expert"}});
  for (const Extent& extent : extents) {
    CAPTURE(extent.text());
    OwnedTensor t(f32, {1, 3}, 3);
    t.set(golden);
    t.set(1, 9);
    FixedProblem problem(golden, 1e-3);
    problem.row_length = 3;
    problem.solve({});
    const std::string text = pattern(problem, {}, 0, t.get(), false, {{Axis::rows, extent}, {0, 0}}).text;
    const std::string start = "1 of 3 wrong: ";
    REQUIRE(text.starts_with(start));
    CHECK(text.ends_with(" 1"));
    CHECK(text.size() > start.size() + 2);
    CHECK(text[start.size()] != ' ');
  }
}

TEST_CASE("pattern: tiles are named if they are wrong as a whole") {
  const Planted p{20, 60, 8, 16};
  CHECK(p.text([](auto, auto c) { return c >= 16 && c < 32; }) ==
        "320 of 1,200 wrong: every element of cols 16..31 (tile 1); none elsewhere");
  CHECK(p.text([](auto r, auto) { return r >= 8; }) ==
        "720 of 1,200 wrong: every element of rows ≥ 8 (tiles 1..2); none elsewhere");
  CHECK(p.found([](auto r, auto) { return r >= 8; }).reads_like == "a step between row tiles, missing or wrong from tile 1 on");
  CHECK(p.found([](auto, auto c) { return c >= 48; }).reads_like == "the ragged last col tile");
  CHECK(p.found([](auto, auto c) { return c >= 55; }).reads_like == "the tail of the last col tile");
  CHECK(p.found([](auto, auto c) { return c % 4 == 1; }).reads_like == "a lane, or a part of a vector: cols repeat");
  CHECK(p.found([](auto, auto c) { return c == 59; }).reads_like == "the tail of the last col tile");
  const auto last_column = [](auto, auto c) { return c == 59; };
  CHECK(Planted{20, 60}.found(last_column, [](double) { return 0.0; }).reads_like ==
        "elements that stay zero; a loop over cols that ends one early");
  CHECK(Planted{20, 60}.found(last_column, [](double v) { return v * v + 1; }).reads_like.empty());
}

TEST_CASE("pattern: a factor, offset or class that wrong values have in common is told") {
  const Planted p{20, 60};
  const auto reading = [&](const std::function<double(double)>& to) {
    return p.found([](auto, auto) { return true; }, to).reads_like;
  };
  CHECK(reading([](double v) { return v / 2; }) == "everything times 0.5");
  CHECK(reading([](double v) { return -v; }) == "everything times -1");
  CHECK(reading([](double v) { return v + 3; }) == "everything +3");
  CHECK(reading([](double) { return 0.0; }) == "elements that stay zero");
  CHECK(reading([](double) { return kNan; }) ==
        "NaN where a number belongs: inf / inf or inf - inf after an overflow, 0 / 0, or one that was read");
  CHECK(reading([](double v) { return v * v + 1; }).empty());
  CHECK(reading([](double v) { return 1.4427 * v; }) == "everything times 1.44 (log2(e))");
  CHECK(reading([](double v) { return std::sqrt(59.0 / 60) * v; }) == "everything times 0.992 (sqrt((cols-1)/cols))");
  CHECK(reading([](double v) { return 60.0 / 59 * v; }) == "everything times 1.02 (cols/(cols-1))");
  CHECK(reading([](double v) { return v / 60; }) == "everything times 0.0167 (1/cols)");
  int n = 0;
  CHECK(reading([&](double v) { return (n++ / 60 % 2 ? 1.25 : 1.5) * v; }) ==
        "every row times a factor of its own, 1.25 to 1.5: a sum, mean, maximum or root of the row");
  CHECK(reading([](double v) { return 1.004 * v; }) == "everything times 1.004");
  CHECK(reading([](double v) { return (std::fmod(v, 2) == 0 ? 1.01 : 0.995) * v; }).empty());
}

TEST_CASE("pattern: elements that still hold the garbage were never written") {
  OwnedTensor t(f16, {2, 3});
  for (const std::int64_t i : {0, 1, 3, 4}) t.set(i, 1);
  const Pattern p =
      pattern(FixedProblem(std::vector<double>(6, 1.0), 0.1), {}, 0, t.get(), false, {{Axis::heads, Axis::head_dim}, {0, 0}});
  CHECK(p.text == "2 of 6 wrong: every element of the last dim 2; none elsewhere");
  CHECK(p.reads_like == std::string(kNeverWritten) + "; a loop over dims that ends one early");
}

TEST_CASE("pattern: what a second run over other old bytes wrote was written, be it NaN of the same bits") {
  OwnedTensor first(f16, {2, 3}), second(f16, {2, 3});
  for (std::int64_t i = 0; i < 6; ++i) {
    first.set(i, 1);
    second.set(i, 1);
  }
  const auto reads_like = [&](std::byte in_row_0, std::byte in_row_1) {
    for (const auto& [i, old] : {std::pair{2, in_row_0}, std::pair{5, in_row_1}}) {
      std::fill_n(static_cast<std::byte*>(first.get().data) + 2 * first.get().offset(i), 2, std::byte{0xff});
      std::fill_n(static_cast<std::byte*>(second.get().data) + 2 * second.get().offset(i), 2, old);
    }
    const Tensor again = second.get();
    return pattern(FixedProblem(std::vector<double>(6, 1.0), 0.1), {}, 0, first.get(), false,
                   {{Axis::heads, Axis::head_dim}, {0, 0}}, &again)
        .reads_like;
  };
  constexpr std::byte kFirst{0xff}, kOther{0x5a};
  CHECK(reads_like(kOther, kOther).starts_with(kNeverWritten));
  CHECK(reads_like(kFirst, kOther).starts_with(kNeverWritten));  // the second run keeps some rows of the first
  CHECK(reads_like(kFirst, kFirst).starts_with("NaN with the bits of memory that nobody wrote"));
  CHECK(reads_like(std::byte{0x3c}, kOther).starts_with("NaN with the bits of memory that nobody wrote"));
}

TEST_CASE("pattern: rows that were not sampled are neither right nor wrong") {
  const Planted p{40, 6, 0, 0, 9, {0, 3, 17, 30, 39}};
  CHECK(p.text([](auto r, auto) { return r >= 17; }) == "18 of 30 wrong: every element of rows ≥ 17; none elsewhere");
}

TEST_CASE("pattern: an index is told by its axes and by the kernel's tiles") {
  const Extent axes[] = {Axis::batch, Axis::seq_q, Axis::heads, Axis::head_dim};
  const std::int64_t index[] = {0, 128, 3, 17};
  CHECK(index_text(axes, index) == "batch 0, query 128, head 3, dim 17");
  Dims dims;
  dims[Axis::batch] = 1;
  dims[Axis::seq_q] = 200;
  dims[Axis::heads] = 4;
  dims[Axis::head_dim] = 64;
  const Frame frame{{axes, axes + 4}, {0, 128, 0, 64}};
  CHECK(tile_text(frame, dims, index) == "first of query tile 1 (queries 128..199)");
  const std::int64_t last[] = {0, 127, 3, 17};
  CHECK(tile_text(frame, dims, last) == "last of query tile 0 (queries 0..127)");
}
