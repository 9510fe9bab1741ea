// SPDX-License-Identifier: Apache-2.0
// The random suite: extents are log-uniform, with a preference for odd and prime numbers, within a budget of elements.  It uses
// no libm, so cases are the same on every machine.
#include <algorithm>
#include <bit>
#include <numeric>
#include <utility>

#include "validate/cases/coverage.hpp"
#include "validate/cases/suite.hpp"
#include "validate/values/random.hpp"

namespace assay {
namespace {

using random::Purpose;

class Draw {
 public:
  explicit Draw(std::uint64_t key) : key_(key) {}
  std::int64_t below(std::int64_t n) { return random::index(key_, counter_++, n); }
  std::int64_t between(std::int64_t first, std::int64_t last) { return first + below(last - first + 1); }
  template <class T>
  const T& of(const std::vector<T>& list) {
    return list[static_cast<std::size_t>(below(static_cast<std::int64_t>(list.size())))];
  }

 private:
  std::uint64_t key_, counter_ = 0;
};

bool prime(std::int64_t n) {
  if (n < 4) return n > 1;
  for (std::int64_t d = 2; d * d <= n; ++d)
    if (n % d == 0) return false;
  return true;
}

// Draws a binade between the ends, then a number in it; one in three is rounded up to an odd number, one down to a prime, if
// there is one in range.
std::int64_t extent(Draw& draw, std::int64_t first, std::int64_t last) {
  const auto width = [](std::int64_t v) { return static_cast<std::int64_t>(std::bit_width(static_cast<std::uint64_t>(v))); };
  const std::int64_t bits = draw.between(width(first), width(last));
  const std::int64_t low = std::max(first, bits ? std::int64_t{1} << (bits - 1) : 0);
  const std::int64_t high = std::min(last, bits ? (std::int64_t{1} << bits) - 1 : 0);
  const std::int64_t drawn = draw.between(low, high);
  std::int64_t n = drawn;
  switch (draw.below(3)) {
    case 1: n = n | 1; break;
    // Note: the search for a prime above 2^32 would cost more than the case.
    case 2:
      while (n > first && n < std::int64_t{1} << 32 && !prime(n)) --n;
      break;
    default: break;
  }
  return n < first || n > last ? drawn : n;
}

// Draws axes in random order, each within the budget that is left, so that every axis is long in some case.
Dims dims(Draw& draw, const Ranges& r, const OpShape& op) {
  std::vector<std::size_t> order(op.axes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  for (std::size_t i = order.size(); i > 1; --i)
    std::swap(order[i - 1], order[static_cast<std::size_t>(draw.below(static_cast<std::int64_t>(i)))]);
  Dims d;
  for (const AxisUse& use : op.axes) d[use.axis] = 0;  // in the op's order, not in that of the draws
  std::int64_t left = r.most_elements;
  for (const std::size_t i : order) {
    const AxisUse& use = op.axes[i];
    const auto [low, high] = of_axis(r.axes, use.axis);
    const std::int64_t first = use.within(low), last = std::max(first, use.within(std::min(high, left)));
    d[use.axis] = extent(draw, first, last);
    left = std::max<std::int64_t>(1, left / std::max<std::int64_t>(1, d[use.axis]));
  }
  // heads must be a multiple of kv_heads.
  if (std::as_const(d)[Axis::heads] && std::as_const(d)[Axis::kv_heads]) {
    std::int64_t &heads = d[Axis::heads], &kv_heads = d[Axis::kv_heads];
    kv_heads = std::min(heads, kv_heads);
    heads -= heads % kv_heads;
  }
  return d;
}

}  // namespace

void add_random(CaseList& list, const Ranges& r, const OpShape& op, const SuiteOptions& options) {
  Draw draw(random::key(options.seed, random::hash(op.name), Purpose::size));
  const std::vector<std::string> fills = fills_of_random(r, op);
  // Draws that do not apply or are duplicates are repeated; the limit ends ranges with fewer cases than requested.
  std::int64_t tries = 20 * options.count + 100;
  for (std::int64_t taken = 0; taken < options.count && tries > 0; --tries) {
    Case c;
    c.op = op.name;
    c.source = "random";
    c.dims = dims(draw, r, op);
    c.dtype = draw.of(list.dtypes());
    for (const Attribute& a : op.attributes)
      if (const auto it = r.attributes.find(std::string(a.name)); it != r.attributes.end())
        if (const double v = value_of(a, draw.of(it->second)); v != a.standard) c.attributes[std::string(a.name)] = v;
    c.fill = draw.of(draw.below(4) == 0 ? r.fills : fills);
    c.layout = draw.of(r.layouts);
    taken += list.add(std::move(c));
  }
}

}  // namespace assay
