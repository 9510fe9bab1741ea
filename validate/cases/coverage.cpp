// SPDX-License-Identifier: Apache-2.0
#include "validate/cases/coverage.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

namespace assay {
namespace {

// Calls `with` with every choice of `left` of `from`'s elements at `at` and later, appended to `taken`.
template <class T, class With>
void each_choice(const std::vector<T>& from, std::size_t at, int left, std::vector<T>& taken, const With& with) {
  if (left == 0) return with(taken);
  for (; at + static_cast<std::size_t>(left) <= from.size(); ++at) {
    taken.push_back(from[at]);
    each_choice(from, at + 1, left - 1, taken, with);
    taken.pop_back();
  }
}

// Elements of a case: most have up to the first, and a case of large extents that no smaller one has together up to the second.
constexpr std::int64_t kUsuallyCombined = std::int64_t{1} << 17, kMostCombined = std::int64_t{1} << 23;
constexpr int kBitsOfNumber = 16;  // of a setting; four settings fit in a combination's key

// A combination's key, from its settings' numbers in ascending order.
template <class Number>
std::uint64_t key_of(const std::vector<Number>& numbers) {
  std::uint64_t key = 0;
  for (const Number n : numbers) key = key << kBitsOfNumber | n;
  return key;
}

std::string setting(std::string_view parameter, std::string_view value) { return fmt::format("{}={}", parameter, value); }

// The case of a row of parameters' values.
Case case_of(const std::vector<Parameter>& parameters, const Row& row, const OpShape& op, const std::string& fill) {
  Case c;
  c.op = op.name;
  c.source = "combined";
  c.fill = fill;
  for (std::size_t p = 0; p < row.size(); ++p) {
    const std::string& name = parameters[p].name;
    const std::string& value = parameters[p].values[row[p]];
    if (const AxisUse* use = find_axis(op, name)) c.dims[use->axis] = std::stoll(value);
    else if (name == "fill") c.fill = value;
    else if (const Attribute* a = find_attribute(op, name)) {
      if (const double v = value_of(*a, value); v != a->standard) c.attributes[std::string(a->name)] = v;
    } else if (name == "layout") c.layout = value;
    else c.dtype = *parse_dtype(value);
  }
  return c;
}

template <class T>
std::vector<T> without_duplicates(const std::vector<T>& all) {
  std::vector<T> once;
  for (const T& v : all)
    if (std::find(once.begin(), once.end(), v) == once.end()) once.push_back(v);
  return once;
}

// What the cases of a covering are made of.
struct Space {
  std::vector<Parameter> parameters;
  std::vector<std::size_t> values_of{};
  std::string fill;
  RowTest admissible{}, cheap{};
};
Space space_of(const Datasets& d, const OpShape& op, const std::vector<std::string>& fills = {}) {
  Space m{.parameters = parameters(d, op), .fill = ranges_of(d, op).fills.front()};
  if (!fills.empty()) m.parameters.push_back({"fill", fills});
  for (const Parameter& p : m.parameters) m.values_of.push_back(p.values.size());
  const auto of = [&op, parameters = m.parameters, fill = m.fill](const Row& row) { return case_of(parameters, row, op, fill); };
  m.admissible = [&op, of](const Row& row) { return elements(of(row), op) <= kMostCombined && admits(of(row), op); };
  m.cheap = [&op, of](const Row& row) { return elements(of(row), op) <= kUsuallyCombined; };
  return m;
}

}  // namespace

std::string extent_class(std::int64_t extent) {
  if (extent <= 2) return fmt::format("{}", extent);
  const auto power = std::min(std::countr_zero(static_cast<std::uint64_t>(extent)), 6);
  for (const std::int64_t size : {31, 64, 256, 2048})
    if (extent <= size) return fmt::format("{}n to {}", 1 << power, size);
  return fmt::format("{}n", 1 << power);
}

std::vector<std::string> settings(const Case& c, const OpShape& op) {
  std::vector<std::string> all;
  for (const AxisUse& use : op.axes) all.push_back(setting(use.axis.name, extent_class(c.dims[use.axis])));
  for (const Attribute& a : op.attributes) all.push_back(setting(a.name, text_of(a, attribute(c, a.name, a.standard))));
  all.push_back(setting("fill", c.fill));
  all.push_back(setting("layout", c.layout));
  all.push_back(setting("dtype", name(c.dtype)));
  return all;
}

std::size_t Combinations::add(const std::vector<std::string>& settings) {
  std::vector<std::uint64_t> numbers, taken;
  for (const std::string& s : settings) numbers.push_back(numbers_.emplace(s, numbers_.size()).first->second);
  std::sort(numbers.begin(), numbers.end());
  const std::size_t before = found_.size();
  each_choice(numbers, 0, strength_, taken, [&](const std::vector<std::uint64_t>& choice) { found_.insert(key_of(choice)); });
  return found_.size() - before;
}

bool Combinations::has(const std::vector<std::string>& settings) const {
  std::vector<std::uint64_t> numbers;
  for (const std::string& s : settings) {
    const auto at = numbers_.find(s);
    if (at == numbers_.end()) return false;
    numbers.push_back(at->second);
  }
  std::sort(numbers.begin(), numbers.end());
  return found_.contains(key_of(numbers));
}

std::vector<Parameter> parameters(const Datasets& d, const OpShape& op) {
  const Ranges ranges = ranges_of(d, op);
  std::vector<Parameter> all;
  for (const AxisUse& use : op.axes) {
    const std::string axis(use.axis.name);
    const std::int64_t last = use.within(of_axis(ranges.axes, use.axis)[1]);
    Parameter p{axis, {}};
    for (const std::int64_t extent : of_axis(d.common.combined, use.axis))
      p.values.push_back(fmt::format("{}", std::clamp(extent, use.least, last)));
    p.values = without_duplicates(p.values);
    all.push_back(std::move(p));
  }
  for (const Attribute& a : op.attributes)
    if (const auto it = ranges.attributes.find(std::string(a.name)); it != ranges.attributes.end())
      all.push_back({it->first, without_duplicates(it->second)});
  all.push_back({"layout", without_duplicates(ranges.layouts)});
  all.push_back({"dtype", {}});
  for (const DType t : kActivationDTypes) all.back().values.emplace_back(name(t));
  return all;
}

std::vector<Row> covering_rows(const std::vector<std::size_t>& values_of, int strength, const RowTest& admissible,
                               const RowTest& cheap) {
  // A value of a parameter, as one number.
  const auto number = [](std::size_t parameter, std::size_t value) { return parameter << 8 | value; };
  std::unordered_set<std::uint64_t> missing;
  std::vector<std::vector<std::size_t>> wanted;  // in a fixed order
  std::vector<std::size_t> all, taken;
  for (std::size_t p = 0; p < values_of.size(); ++p)
    for (std::size_t v = 0; v < values_of[p]; ++v) all.push_back(number(p, v));
  each_choice(all, 0, strength, taken, [&](const std::vector<std::size_t>& numbers) {
    for (std::size_t i = 1; i < numbers.size(); ++i)
      if (numbers[i] >> 8 == numbers[i - 1] >> 8) return;
    wanted.push_back(numbers);
    missing.insert(key_of(numbers));
  });

  constexpr std::size_t kFree = SIZE_MAX;
  std::vector<Row> rows;
  // How many missing combinations the value adds to those of the parameters that have one.
  const auto gain = [&](const Row& row, std::size_t p, std::size_t v) {
    std::vector<std::size_t> others, chosen;
    for (std::size_t q = 0; q < row.size(); ++q)
      if (q != p && row[q] != kFree) others.push_back(number(q, row[q]));
    int count = 0;
    each_choice(others, 0, strength - 1, chosen, [&](std::vector<std::size_t> numbers) {
      numbers.insert(std::upper_bound(numbers.begin(), numbers.end(), number(p, v)), number(p, v));
      count += missing.contains(key_of(numbers));
    });
    return count;
  };
  for (const auto& first : wanted) {
    if (!missing.contains(key_of(first))) continue;
    missing.erase(key_of(first));  // also if no admissible row has it
    Row row(values_of.size(), kFree);
    for (const std::size_t n : first) row[n >> 8] = n & 0xff;
    const Row fixed = row;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::size_t p = (i + rows.size()) % row.size();  // another parameter chooses first in each row
      if (row[p] != kFree) continue;
      std::size_t best = 0;
      int most = -1;
      for (std::size_t v = 0; v < values_of[p]; ++v) {
        const std::size_t turned = (v + rows.size()) % values_of[p];
        if (const int g = gain(row, p, turned); g > most) {
          best = turned;
          most = g;
        }
      }
      row[p] = best;
    }
    for (std::size_t p = 0; p < row.size() && !(admissible(row) && cheap(row)); ++p)
      if (fixed[p] == kFree) row[p] = 0;
    if (!admissible(row)) continue;
    std::vector<std::size_t> numbers, chosen;
    for (std::size_t p = 0; p < row.size(); ++p) numbers.push_back(number(p, row[p]));
    each_choice(numbers, 0, strength, chosen, [&](const std::vector<std::size_t>& choice) { missing.erase(key_of(choice)); });
    rows.push_back(std::move(row));
  }
  return rows;
}

namespace {

// Values of an attribute of which no dataset says any, so that a kernel fails that has the default written into it: all words of
// a choice; of a number the default, one near it and one far from it, whole if the default is.
std::vector<std::string> usual_values(const Attribute& a) {
  if (!a.choices.empty()) return {a.choices.begin(), a.choices.end()};
  const double s = a.standard;
  const bool is_whole = s == std::floor(s);
  std::vector<std::string> values;
  for (const double v : is_whole ? std::array{s, s + 1, 2 * s + 3} : std::array{s, s / 4, 4 * s}) values.push_back(text_of(a, v));
  return values;
}

}  // namespace

Ranges ranges_of(const Datasets& d, const OpShape& op) {
  const auto own = d.edges.find(std::string(op.name));
  if (own != d.edges.end() && own->second.random) return *own->second.random;
  Ranges ranges = d.common.random;
  for (const Attribute& a : op.attributes) ranges.attributes[std::string(a.name)] = usual_values(a);
  return ranges;
}

std::vector<std::string> fills_of_random(const Ranges& ranges, const OpShape& op) {
  std::vector<std::string> fills = ranges.fills;
  for (const std::string_view fill : fill_names(op)) fills.emplace_back(fill);
  return without_duplicates(fills);
}

std::vector<Case> covering_cases(const Datasets& d, const OpShape& op, int strength, const std::vector<std::string>& fills) {
  const Space m = space_of(d, op, fills);
  std::vector<Case> cases;
  for (const Row& row : covering_rows(m.values_of, strength, m.admissible, m.cheap))
    cases.push_back(case_of(m.parameters, row, op, m.fill));
  return cases;
}

std::vector<Case> richest_in_pairs(const std::vector<Case>& cases, const OpShape& op, std::size_t count) {
  std::unordered_map<std::string, std::uint64_t> numbers;
  std::vector<std::vector<std::uint64_t>> pairs_of;  // by case
  for (const Case& c : cases) {
    std::vector<std::uint64_t> of_case, chosen;
    for (const std::string& s : settings(c, op)) of_case.push_back(numbers.emplace(s, numbers.size()).first->second);
    std::sort(of_case.begin(), of_case.end());
    std::vector<std::uint64_t>& pairs = pairs_of.emplace_back();
    each_choice(of_case, 0, 2, chosen, [&](const std::vector<std::uint64_t>& pair) { pairs.push_back(key_of(pair)); });
  }
  std::unordered_set<std::uint64_t> covered;
  std::vector<bool> taken(cases.size());
  for (std::size_t n = 0; n < std::min(count, cases.size()); ++n) {
    std::size_t richest = cases.size();
    std::int64_t most = -1;
    for (std::size_t i = 0; i < cases.size(); ++i) {
      if (taken[i]) continue;
      const auto lacking = [&](std::uint64_t pair) { return !covered.contains(pair); };
      const auto gain = std::count_if(pairs_of[i].begin(), pairs_of[i].end(), lacking);
      if (gain > most) {
        richest = i;
        most = gain;
      }
    }
    taken[richest] = true;
    covered.insert(pairs_of[richest].begin(), pairs_of[richest].end());
  }
  std::vector<Case> chosen;
  for (std::size_t i = 0; i < cases.size(); ++i)
    if (taken[i]) chosen.push_back(cases[i]);
  return chosen;
}

std::vector<Case> long_cases(const Datasets& d, const OpShape& op) {
  std::vector<Case> cases;
  std::map<std::string, std::int64_t> longer;
  for (const AxisUse& use : op.axes) {
    const std::int64_t* const extent = find_of_axis(d.common.longer, use.axis);
    if (extent) longer[std::string(use.axis.name)] = *extent;
  }
  for (const auto& [axis, extent] : longer) {
    Space m = space_of(d, op);
    for (std::size_t p = 0; p < m.parameters.size(); ++p) {
      Parameter& of = m.parameters[p];
      if (of.name == axis) of.values = {fmt::format("{}", extent)};
      else if (find_axis(op, of.name)) of.values.resize(1);
      m.values_of[p] = of.values.size();
    }
    const RowTest admissible = [&](const Row& row) { return admits(case_of(m.parameters, row, op, m.fill), op); };
    for (const Row& row : covering_rows(m.values_of, 1, admissible, admissible))
      cases.push_back(case_of(m.parameters, row, op, m.fill));
  }
  return cases;
}

Coverage coverage(const Datasets& d, const OpShape& op, const std::vector<Case>& cases, int strength) {
  Combinations found(strength), counted(strength);
  for (const Case& c : cases) found.add(settings(c, op));
  Coverage result;
  for (const Case& c : covering_cases(d, op, strength)) {
    std::vector<std::string> all = settings(c, op), chosen;
    std::erase_if(all, [](const std::string& s) { return s.starts_with("fill="); });
    each_choice(all, 0, strength, chosen, [&](const std::vector<std::string>& choice) {
      if (counted.add(choice) == 0) return;
      ++result.all;
      result.found += found.has(choice);
    });
  }
  return result;
}

}  // namespace assay
