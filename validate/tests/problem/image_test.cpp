// SPDX-License-Identifier: Apache-2.0
#include "validate/problem/image.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>

#include "catch_shim.hpp"
#include "validate/base/error.hpp"
#include "validate/values/common_fills.hpp"
#include "validate/values/layout.hpp"
#include "validate/worker/protocol.hpp"

using namespace assay;

namespace {

// y[rows, cols] of x[rows, cols] and w[cols], with a batch in front for `cube`.
const Op& matrix() {
  static constexpr AxisUse axes[] = {{Axis::batch}, {Axis::rows}, {Axis::cols}};
  static const Op op{.name = "matrix",
                     .axes = axes,
                     .tensors = {{"x", Role::input, {Axis::rows, Axis::cols}},
                                 {"w", Role::weight, {Axis::cols}},
                                 {"cube", Role::input, {Axis::batch, Axis::rows, Axis::cols}},
                                 {"y", Role::output, {Axis::rows, Axis::cols}}}};
  return op;
}

Case the_case(std::int64_t rows, std::int64_t cols, DType dtype, std::string_view layout) {
  Case c{.op = "matrix", .dtype = dtype};
  c.dims[Axis::rows] = rows;
  c.dims[Axis::cols] = cols;
  c.dims[Axis::batch] = 2;
  c.layout = layout;
  c.seed = 7;
  return c;
}

bool same_placements(const std::vector<Placement>& a, const std::vector<Placement>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Placement& p, const Placement& q) {
    return p.offset == q.offset && p.bytes == q.bytes && p.tensor.stride == q.tensor.stride;
  });
}

}  // namespace

TEST_CASE("image: every layout that tensors share is placed as its name says") {
  for (const Layout& layout : kLayouts)
    for (const DType dtype : {f16, bf16, f32})
      for (const std::int64_t rows : {1, 2, 7})
        for (const std::int64_t cols : {1, 5, 8, 31, 64, 259}) {
          if (!applies(layout, dtype) || layout.own) continue;
          CAPTURE(layout.name, name(dtype), rows, cols);
          const std::int64_t element = size_of(dtype);
          const std::vector<Placement> all = place(matrix(), the_case(rows, cols, dtype, layout.name));
          REQUIRE(all.size() == 4);
          for (const Placement& p : all) {
            const Tensor& t = p.tensor;
            CHECK(t.data == nullptr);
            CHECK(t.dtype == dtype);
            CHECK(t.shape[static_cast<std::size_t>(t.rank - 1)] == cols);
            CHECK(t.stride[static_cast<std::size_t>(t.rank - 1)] == 1);
            CHECK(p.offset == static_cast<std::size_t>(layout.offset_bytes));
            CHECK(p.offset % static_cast<std::size_t>(element) == 0);
            CHECK(p.bytes == static_cast<std::size_t>((t.offset(t.size() - 1) + 1) * element));
            CHECK(t.rows_contiguous());
          }
          const Tensor &x = all[0].tensor, &w = all[1].tensor, &cube = all[2].tensor;
          CHECK(x.rank == 2);
          CHECK(w.rank == 1);
          CHECK(all[1].bytes == static_cast<std::size_t>(cols * element));  // a vector has no rows to keep apart
          CHECK(cube.stride[0] == rows * cube.stride[1]);
          CHECK(x.stride[0] == cube.stride[1]);
          if (!layout.padded) {
            CHECK(x.stride[0] == cols);
            CHECK(x.contiguous());
          } else {
            CHECK(x.stride[0] > cols);
            if (rows > 1) CHECK_FALSE(x.contiguous());
            if (layout.row_multiple) CHECK(x.stride[0] * element % layout.row_multiple == 0);
            else CHECK(x.stride[0] == cols + 3);
          }
        }
}

TEST_CASE("image: in alone one start or the rows of one tensor are not aligned, each in its turn", "[layout]") {
  for (const DType dtype : {f16, f32}) {
    std::set<std::pair<std::size_t, bool>> broken;
    for (std::int64_t rows = 4; rows < 11; ++rows) {
      const std::vector<Placement> all = place(matrix(), the_case(rows, 24, dtype, "alone"));
      std::size_t of_case = 0;
      for (std::size_t k = 0; k < all.size(); ++k) {
        const Tensor& t = all[k].tensor;
        CHECK(t.rows_contiguous());
        std::set<std::int64_t> places;  // no two elements share one
        for (std::int64_t i = 0; i < t.size(); ++i) places.insert(t.offset(i));
        CHECK(places.size() == static_cast<std::size_t>(t.size()));
        bool rows_aligned = true;
        for (int i = 0; i + 1 < t.rank; ++i) rows_aligned &= t.stride[static_cast<std::size_t>(i)] * size_of(dtype) % 16 == 0;
        const bool start_aligned = all[k].offset % 16 == 0;
        of_case += static_cast<std::size_t>(!start_aligned) + static_cast<std::size_t>(!rows_aligned);
        if (!start_aligned) broken.insert({k, false});
        if (!rows_aligned) broken.insert({k, true});
      }
      CHECK(of_case == 1);
    }
    CHECK(broken.size() == 7);  // four starts and three tensors with rows
  }
}

TEST_CASE("image: with a mixed layout each tensor has a start and strides of its own, drawn from the seed", "[layout]") {
  for (const bool aligned : {false, true})
    for (const DType dtype : {f16, f32}) {
      CAPTURE(aligned, name(dtype));
      std::set<std::size_t> offsets;
      std::set<std::int64_t> row_strides, slice_strides;
      bool other_order = false, room = false;
      for (std::uint64_t seed = 1; seed <= 40; ++seed) {
        Case c = the_case(7, 31, dtype, aligned ? "mixed16" : "mixed");
        c.seed = seed;
        const std::vector<Placement> all = place(matrix(), c);
        for (const Placement& p : all) {
          const Tensor& t = p.tensor;
          offsets.insert(p.offset);
          CHECK(p.offset % static_cast<std::size_t>(size_of(dtype)) == 0);
          CHECK(t.rows_contiguous());
          std::set<std::int64_t> places;  // no two elements share one
          for (std::int64_t i = 0; i < t.size(); ++i) places.insert(t.offset(i));
          CHECK(places.size() == static_cast<std::size_t>(t.size()));
          CHECK(p.bytes == static_cast<std::size_t>((*places.rbegin() + 1) * size_of(dtype)));
          if (!aligned || t.rank == 1) continue;
          CHECK(p.offset == 0);
          for (int i = 0; i + 1 < t.rank; ++i) CHECK(t.stride[static_cast<std::size_t>(i)] * size_of(dtype) % 16 == 0);
        }
        const Tensor &x = all[0].tensor, &cube = all[2].tensor;
        row_strides.insert(x.stride[0]);
        slice_strides.insert(cube.stride[0]);
        other_order = other_order || cube.stride[0] < cube.stride[1];
        room = room || cube.stride[0] > cube.shape[1] * cube.stride[1];
        CHECK(same_placements(all, place(matrix(), c)));
      }
      CHECK(offsets.size() == (aligned ? 1u : static_cast<std::size_t>(16 / size_of(dtype))));
      CHECK(row_strides.size() >= 4);
      CHECK(slice_strides.size() > 4);
      CHECK(other_order);
      CHECK(room);
    }
}

TEST_CASE("image: a mixed layout leaves one run where the contract asks for one", "[layout]") {
  Op op{.name = "packed", .tensors = {{"x", Role::input, {Axis::batch, Axis::rows, Axis::cols}, {.merged_if = "packed"}}}};
  Case c = the_case(7, 31, f16, "mixed");
  const auto merged = [&] {
    const Tensor t = place(op, c)[0].tensor;
    return t.stride[0] == t.shape[1] * t.stride[1];
  };
  int apart = 0;
  for (c.seed = 1; c.seed <= 20; ++c.seed) {
    c.attributes["packed"] = 1;
    CHECK(merged());
    c.attributes["packed"] = 0;
    apart += !merged();
  }
  CHECK(apart > 5);
}

TEST_CASE("image: an in-place output is placed as the input that it lies over", "[layout]") {
  const Op op{.name = "either",
              .tensors = {{"x", Role::input, {Axis::rows, Axis::cols}},
                          {"y", Role::output, {Axis::rows, Axis::cols}, {.in_place_of = "x", .in_place_if = "in_place"}}}};
  Case c = the_case(5, 9, f16, "mixed");
  int apart = 0;
  for (c.seed = 1; c.seed <= 20; ++c.seed) {
    const auto alike = [&] {
      const std::vector<Placement> all = place(op, c);
      return all[0].offset == all[1].offset && all[0].tensor.stride == all[1].tensor.stride;
    };
    c.attributes["in_place"] = 1;
    CHECK(alike());
    c.attributes["in_place"] = 0;
    apart += !alike();
  }
  CHECK(apart > 10);
}

TEST_CASE("image: an offset moves the first element off a 16-byte boundary, by as much as its name says") {
  for (const std::string_view layout : {"offset2", "offset4"}) {
    const Case c = the_case(3, 8, f16, layout);
    alignas(256) static std::byte memory[2048];
    const Placement p = place(matrix(), c)[0];
    Tensor t = p.tensor;
    t.data = memory + p.offset;
    CHECK_FALSE(t.rows_aligned(16));
    CHECK(t.rows_aligned(layout == "offset2" ? 2 : 4));
    CHECK(t.rows_aligned(4) == (layout == "offset4"));
  }
}

TEST_CASE("image: nothing is placed where an extent is 0, and a layout that is not known is bad input") {
  for (const Layout& layout : kLayouts)
    for (const Placement& p : place(matrix(), the_case(0, 5, f32, layout.name)))
      CHECK(p.bytes == (p.tensor.rank == 1 ? 20u : 0u));
  CHECK_THROWS_AS(place(matrix(), the_case(1, 1, f32, "paded")), BadInput);
}

TEST_CASE("image: an output lies over the input that its contract names where the choice is taken, and only there") {
  Op op{.name = "either",
        .tensors = {{"w", Role::weight, {Axis::cols}},
                    {"x", Role::input, {Axis::rows, Axis::cols}},
                    {"y", Role::output, {Axis::rows, Axis::cols}, {.in_place_of = "x", .in_place_if = "in_place"}},
                    {"z", Role::output, {Axis::rows, Axis::cols}}}};
  Case c = the_case(3, 8, f16, "padded");
  const auto over = [&] {
    std::vector<std::optional<std::size_t>> all;
    for (std::size_t i = 0; i < op.tensors.size(); ++i) all.push_back(lies_over(op, c, i));
    return all;
  };
  const std::optional<std::size_t> none;
  CHECK(over() == std::vector{none, none, none, none});
  c.attributes["in_place"] = 0;
  CHECK(over() == std::vector{none, none, none, none});
  c.attributes["in_place"] = 1;
  CHECK(over() == std::vector{none, none, std::optional<std::size_t>{1}, none});
  op.tensors[2].options.in_place_of = "gone";
  CHECK_THROWS_AS(over(), std::logic_error);
}

TEST_CASE("image: images of one case do not touch, and each starts at its offset") {
  for (const Layout& layout : kLayouts) {
    const Case c = the_case(7, 31, f16, layout.name);
    if (!applies(layout, c.dtype)) continue;
    const Packing p = pack(matrix(), c);
    std::size_t end = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      CHECK(p.at[i] >= end);
      CHECK(p.at[i] % 256 == p.placements[i].offset);
      end = p.at[i] + p.placements[i].bytes;
    }
    CHECK(p.input_bytes >= end);
    CHECK(p.at[3] == p.placements[3].offset);
    CHECK(p.output_bytes >= p.at[3] + p.placements[3].bytes);
    CHECK(p.output_bytes % 256 == 0);
  }
}

TEST_CASE("image: an input has its values, and NaN in every gap; an output has garbage in every byte") {
  for (const DType dtype : {f16, bf16, f32})
    for (const std::string_view layout : {"contiguous", "padded", "padded16"}) {
      const Case c = the_case(5, 7, dtype, layout), dense = the_case(5, 7, dtype, "contiguous");
      const Placement p = place(matrix(), c)[2], q = place(matrix(), dense)[2];
      std::vector<std::byte> image(p.bytes), values(q.bytes), output(p.bytes);
      fill_image(matrix(), c, 2, p, image.data(), std::byte{0x5a});
      fill_image(matrix(), dense, 2, q, values.data(), {});
      std::vector<bool> element(p.bytes / static_cast<std::size_t>(size_of(dtype)));
      std::int64_t wrong = 0, finite = 0;
      for (std::int64_t i = 0; i < p.tensor.size(); ++i) {
        const std::int64_t at = p.tensor.offset(i);
        element[static_cast<std::size_t>(at)] = true;
        wrong += decode(dtype, image.data(), at) != decode(dtype, values.data(), i);  // the layout changes no value
        finite += std::isfinite(decode(dtype, image.data(), at));
      }
      CHECK(wrong == 0);
      CHECK(finite == 2 * 5 * 7);
      std::int64_t gaps = 0;
      for (std::size_t at = 0; at < element.size(); ++at)
        if (!element[at]) {
          ++gaps;
          wrong += !std::isnan(decode(dtype, image.data(), static_cast<std::int64_t>(at)));
        }
      CHECK(wrong == 0);
      CHECK((gaps > 0) == (layout != "contiguous"));

      fill_image(matrix(), c, 3, place(matrix(), c)[3], output.data(), std::byte{0x5a});
      for (std::size_t b = 0; b < place(matrix(), c)[3].bytes; ++b) wrong += output[b] != std::byte{0x5a};
      CHECK(wrong == 0);
    }
}

TEST_CASE("image: a fill that is not known is bad input that names the nearest") {
  try {
    find_fill(matrix(), "nromal");
    FAIL("a fill that is not known was found");
  } catch (const BadInput& e) {
    CHECK(std::string_view(e.what()).find("'normal'") != std::string_view::npos);
  }
}

TEST_CASE("image: several tiles and a ragged one, by extent and by bytes") {
  Kernel k{.tiles = {tile(Axis::rows, 4), tile_bytes(Axis::cols, 64)}};
  const auto ragged = [&](std::int64_t rows, std::int64_t cols, DType t) {
    return multi_tile_ragged(k, the_case(rows, cols, t, "contiguous"));
  };
  CHECK(ragged(5, 1, f32));
  CHECK_FALSE(ragged(4, 1, f32));
  CHECK_FALSE(ragged(8, 1, f32));
  CHECK_FALSE(ragged(3, 1, f32));  // one tile that is not full
  CHECK(ragged(4, 17, f32));
  CHECK_FALSE(ragged(4, 17, f16));  // 32 columns of 2 bytes fit one tile
  CHECK(ragged(4, 33, f16));
  CHECK_FALSE(ragged(4, 32, f32));
}

namespace {

std::int64_t squares(const FillSite&, std::int64_t i) { return i * i; }
double halves(const FillSite&, std::int64_t i) { return static_cast<double>(i) / 2; }

// x[rows, cols] beside places on its rows, positions, and a single value.
Op with_integers() {
  Op op{.name = "integers",
        .tensors = {{"x", Role::input, {Axis::rows, Axis::cols}},
                    {"ids", Role::input, {Axis::cols}, {.dtype = i32, .holds = indices_of(Axis::rows)}},
                    {"offsets", Role::input, {Axis::rows, Axis::cols}, {.dtype = i64, .holds = positions_of_tokens()}},
                    {"y", Role::output, {Axis::one}, {.dtype = f32}}}};
  op.hooks.fills = {{.name = "own", .shows = "nothing", .value = halves, .integer = squares, .of = Contents::Kind::positions}};
  return op;
}

std::vector<std::int64_t> integers(const Op& op, const Case& c, std::size_t tensor) {
  const Placement p = place(op, c)[tensor];
  std::vector<std::byte> image(p.bytes);
  fill_image(op, c, static_cast<int>(tensor), p, image.data(), {});
  std::vector<std::int64_t> out;
  for (std::int64_t i = 0; i < p.tensor.size(); ++i)
    out.push_back(static_cast<std::int64_t>(decode(p.tensor.dtype, image.data(), p.tensor.offset(i))));
  return out;
}

}  // namespace

TEST_CASE("image: places are on their axis, both ends among them, whatever the fill") {
  const Op op = with_integers();
  for (const Fill& fill : common_fills()) {
    Case c = the_case(37, 900, f16, "offset2");
    c.fill = fill.name;
    std::vector<bool> seen(37);
    for (const std::int64_t id : integers(op, c, 1)) {
      REQUIRE((id >= 0 && id < 37));
      seen[static_cast<std::size_t>(id)] = true;
    }
    CHECK(std::count(seen.begin(), seen.end(), true) == 37);
    const std::vector<std::int64_t> first = integers(op, c, 1);
    CHECK(first == integers(op, c, 1));
    ++c.seed;
    CHECK(first != integers(op, c, 1));
  }
  CHECK(integers(op, the_case(1, 9, f16, "contiguous"), 1) == std::vector<std::int64_t>(9, 0));
}

TEST_CASE("image: integers are the fill's own where they hold what it draws, else as in other fills") {
  const Op op = with_integers();
  Case c = the_case(2, 3, f32, "padded");
  const std::vector<std::int64_t> ids = integers(op, c, 1), positions = integers(op, c, 2);
  c.fill = "own";
  CHECK(integers(op, c, 1) == ids);
  CHECK(integers(op, c, 2) == std::vector<std::int64_t>{0, 1, 4, 9, 16, 25});
  CHECK(positions != integers(op, c, 2));
}

TEST_CASE("image: integers have their own size, gaps and offset; a single value is one element") {
  const Op op = with_integers();
  const std::vector<Placement> all = place(op, the_case(2, 3, f16, "padded"));
  CHECK(all[1].bytes == 3 * 4);
  CHECK(all[2].tensor.stride[0] == 6);
  CHECK(all[2].bytes == (6 + 3) * 8);
  CHECK(place(op, the_case(2, 3, f16, "offset2"))[1].offset == 0);  // two bytes would break an i32's alignment
  CHECK(place(op, the_case(2, 3, f16, "offset4"))[1].offset == 4);
  CHECK(all[3].tensor.rank == 1);
  CHECK(all[3].tensor.shape[0] == 1);
  CHECK(all[3].bytes == 4);
}

TEST_CASE("image: a long row is filled as short ones are") {
  const Op& op = matrix();
  Case c = the_case(2, 150'001, f16, "padded");
  c.fill = "ramp";
  const Placement p = place(op, c)[0];
  std::vector<std::byte> image(p.bytes);
  fill_image(op, c, 0, p, image.data(), {});
  const std::int64_t shape[] = {2, 150'001};
  const FillSite site{c.dims, f16, "x", 0, Role::input, shape, c.seed};
  std::int64_t wrong = 0;
  for (std::int64_t i = 0; i < p.tensor.size(); ++i)
    wrong += decode(f16, image.data(), p.tensor.offset(i)) != round_to(f16, find_fill(op, "ramp").value(site, i));
  CHECK(wrong == 0);
}
