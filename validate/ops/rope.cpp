// SPDX-License-Identifier: Apache-2.0
// Judge hooks of rope: positions, exact probes, fills, relations.
#include "ops/rope.hpp"

#include <cmath>
#include <complex>
#include <iterator>

#include "validate/ops/elementwise_fills.hpp"

namespace assay {

namespace {

using namespace elementwise_fills;

// Unordered, with gaps; one position in four is 0, 1 or large.
std::int64_t gaps(const FillSite& s, std::int64_t i) {
  static constexpr std::int64_t kPlaces[] = {0, 1, 4095, 131071, 1 << 20};
  if (draw(s, random::Purpose::kind, i, 4)) return draw(s, random::Purpose::value, i, 8192);
  return kPlaces[draw(s, random::Purpose::exponent, i, std::size(kPlaces))];
}
// In order up to half of the sequence, from 0 in every other one and from 1 in the rest; then as above.
std::int64_t half_in_order(const FillSite& s, std::int64_t i) {
  const std::int64_t length = s.shape[1], sequence = i / length, at = i % length;
  return at < (length + 1) / 2 ? at + sequence % 2 : gaps(s, i);
}
std::int64_t start(const FillSite&, std::int64_t) { return 0; }
// Leaves room for an offset: no position exceeds 2^24.
std::int64_t far(const FillSite& s, std::int64_t i) {
  static constexpr std::int64_t kPlaces[] = {131071, 131072, 1 << 20, (1 << 20) + 1, (1 << 24) - (1 << 17) - 1, 999983};
  return kPlaces[draw(s, random::Purpose::value, i, std::size(kPlaces))];
}

// A table of frequencies.  With the fill frequency_ends it has what is at the ends of what is legal; else either a model's, those
// by base with the slow ones slowed further, as for longer texts, or one without order.  What is beyond the pairs nobody reads.
std::vector<double> frequencies(const Op& op, const Case& c, std::string_view tensor) {
  static constexpr double kEnds[] = {0, 1, 0x1p-149, 1 - 0x1p-24, 0x1p-126, 0x1p-24, 0.5};
  rope::Args a;
  a.q.shape[3] = c.dims[Axis::head_dim];
  a.rotary_dim = attribute(c, "rotary_dim");
  a.base = attribute(c, "base");
  const std::uint64_t key = random::key(c.seed, tensor_index(op, tensor), random::Purpose::value);
  const bool ends = c.fill == "frequency_ends",
             unordered = random::one_in(random::key(c.seed, tensor_index(op, tensor), random::Purpose::kind), 0, 4);
  std::vector<double> f(static_cast<std::size_t>(a.q.shape[3]), 1);
  for (std::size_t i = 0; i < static_cast<std::size_t>(a.rotary() / 2); ++i) {
    const double by_base = std::pow(a.base_used(), -2 * static_cast<double>(i) / static_cast<double>(a.rotary()));
    f[i] = ends        ? kEnds[random::index(key, i, std::size(kEnds))]
           : unordered ? random::uniform(key, i)
                       : by_base / (by_base < 0.003 ? 8 : 1);
  }
  return f;
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
                     .integer = start,
                     .exact = always,
                     .exact_with = starts_at_zero},
                    {.name = "one_channel",
                     .shows = "the partner of the other layout, the angle of another pair",
                     .value = one_channel},
                    {.name = "far_positions",
                     .shows = "an angle or frequency with too few digits; positions with too few bits",
                     .value = normal,
                     .integer = far},
                    {.name = "frequency_ends",
                     .shows = "a given frequency of 0 taken for a missing one, or a tiny one lost",
                     .value = normal},
                    {.name = "half_in_order",
                     .shows = "a guess from the first positions: that all are in order",
                     .value = normal,
                     .integer = half_in_order}},
          .integer = gaps,
          .derived = {"frequencies"},
          .derive = frequencies,
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
