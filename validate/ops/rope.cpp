// SPDX-License-Identifier: Apache-2.0
// Judge hooks of rope: positions, exact probes, fills, relations.
#include "ops/rope.hpp"

#include <cmath>
#include <complex>
#include <iterator>

#include "validate/ops/elementwise_fills.hpp"
#include "validate/values/positions.hpp"

namespace assay {

namespace {

using namespace elementwise_fills;

// Of frequencies what is at the ends of what is legal.
double frequency_ends(const FillSite& s, std::int64_t i) {
  static constexpr double kEnds[] = {0, 1, 0x1p-149, 1 - 0x1p-24, 0x1p-126, 0x1p-24, 0.5};
  return s.tensor == "frequencies" ? kEnds[draw(s, random::Purpose::value, i, std::size(kEnds))] : normal(s, i);
}

// Channels are below 3, so a rotated pair is below 4.3.
double halved(const FillSite& s, std::int64_t i) { return normal(s, i) / 2; }

// One nonzero channel per head, different from head to head: nonzero values elsewhere show where it went.
double one_channel(const FillSite& s, std::int64_t i) {
  const std::int64_t dim = s.shape.back(), row = i / dim;
  return i % dim == row * 5 % dim ? 1 + static_cast<double>(row % 7) / 8 : 0;
}

bool has_positions(const Case& c) { return attribute(c, "positions") != 0; }
bool starts_at_zero(const Case& c) { return has_positions(c) && attribute(c, "offset") == 0; }
constexpr double kMoved = 3;  // subtracted from the positions, added to the offset

// The other element of a pair.  Inverse check: rotate (a, b) by t, swap, rotate by t again, swap: the result is (a, b), since the
// swap reverses the direction of rotation.
std::int64_t partner(const Case& c, std::int64_t i) {
  rope::Args a;
  a.q.shape[3] = c.dims[Axis::head_dim];
  a.rotary_dim = attribute(c, "rotary_dim");
  a.layout = static_cast<rope::Layout>(static_cast<int>(attribute(c, "layout_of_pairs")));
  const std::int64_t d = i % a.q.shape[3];
  return d < a.rotary() ? i - d + a.partner(d) : i;
}

}  // namespace

static Hooks hooks() {
  return {.fills = {{.name = "halved", .shows = "errors hidden by the ulp of values above 4", .value = halved},
                    {.name = "probe_start",
                     .shows = "a wrong channel, head or token; exact with explicit positions, which are zero",
                     .value = small_integers,
                     .integer = positions::start,
                     .of = Contents::Kind::positions,
                     .exact = always,
                     .exact_with = starts_at_zero},
                    {.name = "one_channel",
                     .shows = "the partner of the other layout, the angle of another pair",
                     .value = one_channel},
                    {.name = "frequency_ends",
                     .shows = "a given frequency of 0 taken for a missing one, or a tiny one lost",
                     .value = frequency_ends}},
          .relations = {{.name = "offset_moved",
                         .shows = "an offset added twice, or to only some tokens",
                         .integer = [](std::string_view, const Dims&, std::int64_t, double v) { return v - kMoved; },
                         .change = [](Case& c) { c.attributes["offset"] += kMoved; },
                         .applies = has_positions},
                        {.name = "turned_back",
                         .shows = "a map that is not a rotation, so that the inverse check does not undo it",
                         .bits = false,
                         .inverse = {{"q", "q_out"}, {"k", "k_out"}},
                         .partner = partner}}};
}

static const LinkedHooks<rope> linked(hooks);

}  // namespace assay
