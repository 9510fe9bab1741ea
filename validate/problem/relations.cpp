// SPDX-License-Identifier: Apache-2.0
#include "validate/problem/relations.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <utility>

#include "validate/base/error.hpp"
#include "validate/problem/relate.hpp"
#include "validate/values/layout.hpp"
#include "validate/values/random.hpp"

namespace assay {

namespace {

using Move = Relation::Move;

enum class Holds { no, nearly, to_the_bit };  // how an output keeps a relation; nearly: up to the roundings of f64

constexpr std::uint64_t kOneIn = 4;                          // one case in four tries a relation
constexpr std::int64_t kMostShared = std::int64_t{1} << 24;  // most elements of such a case

constexpr std::int64_t kExtents[] = {4, 6, 8, 16, 32, 64};  // of all axes of small cases: the first two that are legal
constexpr std::size_t kTogether = 3;                        // most inputs that are doubled together
constexpr double kAdded = 64;                               // to an input
constexpr std::uint64_t kSeeds = 5;                         // of the first small case
constexpr double kNear = 0x1p-30;                           // roundings of f64, relative to the largest element of an output

// A case with its inputs and its golden.
struct Solved {
  Case c;
  Packing packing;
  std::vector<std::byte> inputs;
  std::unique_ptr<Problem> problem;
  bool legal = false;                        // only then there are answers
  std::vector<std::vector<double>> rounded;  // outputs, by the op's oracle: in f32, with sums in order

  // `coarse`: an input whose values are multiples of 1/4, to which a constant can be added without an error.
  Solved(const Op& op, const Case& what, std::string_view coarse = {})
      : c(what), packing(pack(op, c)), inputs(packing.input_bytes, std::byte{0xff}) {
    for (std::size_t t = 0; t < op.tensors.size(); ++t) {
      if (!is_given(op.tensors[t])) continue;
      std::byte* const image = inputs.data() + packing.given[t];
      fill_image(op, c, static_cast<int>(t), packing.placements[t], image, {});
      Tensor x = packing.placements[t].tensor;
      x.data = image;
      for (std::int64_t i = 0; op.tensors[t].name == coarse && i < x.size(); ++i) x.set(i, std::round(4 * x.at(i)) / 4);
    }
    solve(op);
  }
  Solved(const Op& op, Related related) : c(std::move(related.c)), packing(pack(op, c)), inputs(std::move(related.inputs)) {
    solve(op);
  }

 private:
  void solve(const Op& op) {
    problem = problem_with(op, c, packing, inputs.data());
    legal = static_cast<bool>(problem->legal());
    if (!legal) return;
    problem->solve({}, Need::values);
    if (!op.hooks.oracle) return;  // Note: a composite op has none
    const auto outputs = std::ranges::count(op.tensors, Role::output, &TensorSpec::role);
    std::vector<std::span<double>> written;
    for (int output = 0; output < outputs; ++output) rounded.emplace_back(problem->golden(output).size());
    for (std::vector<double>& y : rounded) written.emplace_back(y);
    op.hooks.oracle(problem->args(), {}, Roundings::declared, written);
  }
};

// An output of two problems, and where the elements of the related one are in the original.
struct Pair {
  std::span<const double> original, related;                  // in exact arithmetic
  std::span<const double> rounded_original, rounded_related;  // in f32
  Sources sources;
};
std::vector<Pair> outputs_of(const Op& op, const Relation& r, const Solved& original, const Solved& related) {
  std::vector<Pair> pairs;
  for (const TensorSpec& spec : op.tensors) {
    if (spec.role != Role::output) continue;
    const std::size_t k = pairs.size();
    const int output = static_cast<int>(k);
    const Sources sources(r, original.c.dims, related.c.dims, spec.axes);
    Pair p{original.problem->golden(output), related.problem->golden(output), {}, {}, sources};
    if (!original.rounded.empty()) {
      p.rounded_original = original.rounded[k];
      p.rounded_related = related.rounded[k];
    }
    pairs.push_back(std::move(p));
  }
  return pairs;
}

// Note: bits are those of the oracle.  The golden's products depend on where Eigen puts a row.
Holds compared(const Pair& p, const Relation::Scaled& scaling) {
  double largest = 0;
  for (const double v : p.original)
    if (std::isfinite(v)) largest = std::max(largest, std::fabs(v));
  const double most = kNear * (largest + std::fabs(scaling.added));
  bool to_the_bit = !p.rounded_related.empty() || p.related.empty();
  for (std::size_t i = 0; i < p.related.size(); ++i) {
    const auto source = static_cast<std::size_t>(p.sources[static_cast<std::int64_t>(i)]);
    const double expected = scaling.of(p.original[source]);
    if (!same_number(p.related[i], expected) && !(std::fabs(p.related[i] - expected) <= most)) return Holds::no;
    to_the_bit = to_the_bit && same_number(p.rounded_related[i], scaling.of(p.rounded_original[source]));
  }
  return to_the_bit ? Holds::to_the_bit : Holds::nearly;
}

// The problem that a relation makes of a case; empty: none, or one that is not legal.
std::optional<Solved> related_to(const Op& op, const Solved& original, const Relation& r) {
  if (!original.legal || !r.inverse.empty()) return {};
  std::optional<Related> made = relate(op, original.c, r, original.packing, original.inputs.data(), nullptr);
  if (!made) return {};
  return Solved(op, std::move(*made));
}
bool is_the_same(const Solved& original, const Solved& related) {
  return related.inputs == original.inputs && related.c.attributes == original.c.attributes;
}

std::vector<Holds> how_it_holds(const Op& op, const Relation& r, const Solved& original, const Solved& related) {
  std::vector<Holds> holds;
  std::size_t output = 0;
  const std::vector<Pair> pairs = outputs_of(op, r, original, related);
  for (const TensorSpec& spec : op.tensors)
    if (spec.role == Role::output) holds.push_back(compared(pairs[output++], r.scaling(spec.name)));
  return holds;
}

// Attributes such as a case's: with small numbers, of the same signs and in the same order, in the place of those that are not at
// their default.
std::vector<std::map<std::string, double>> kinds_of(const Op& op, const Case& c) {
  std::vector<std::map<std::string, double>> kinds(3);
  std::set<double> sizes;  // of whole numbers
  const auto each_number = [&](auto&& take) {
    for (const Attribute& a : op.attributes)
      if (const auto given = c.attributes.find(std::string(a.name)); given != c.attributes.end())
        take(given->first, given->second, !a.choices.empty(), given->second == std::floor(given->second));
  };
  each_number([&](const std::string&, double v, bool is_choice, bool is_whole) {
    if (!is_choice && is_whole) sizes.insert(std::fabs(v));
  });
  for (std::size_t k = 0; k < kinds.size(); ++k)
    each_number([&](const std::string& name, double v, bool is_choice, bool is_whole) {
      const auto rank = std::distance(sizes.begin(), sizes.find(std::fabs(v)));
      kinds[k][name] = is_choice ? v
                       : is_whole && v == 0
                           ? 0
                           : std::copysign(is_whole ? static_cast<double>(k + 1) + static_cast<double>(rank) : 0.375, v);
    });
  const auto repeated = std::ranges::unique(kinds);
  kinds.erase(repeated.begin(), repeated.end());
  return kinds;
}

// The small cases on which relations are tried: of two extents for all axes, and with each axis twice as long.
std::deque<Solved> small_cases(const Op& op, const Case& like) {
  std::deque<Solved> cases;
  const OpShape shape = op.shape();
  const auto add = [&](const Case& c) {
    if (!admits(c, shape)) return false;
    if (cases.emplace_back(op, c).legal) return true;
    cases.pop_back();
    return false;
  };
  std::vector<std::map<std::string, double>> kinds = kinds_of(op, like);
  kinds.push_back(like.attributes);  // where no small number is legal
  for (const std::map<std::string, double>& attributes : kinds) {
    if (&attributes == &kinds.back() && !cases.empty()) break;
    Case c{.op = std::string(op.name), .dtype = f32, .attributes = attributes, .seed = 1};
    int alike = 0;
    for (const std::int64_t extent : kExtents) {
      for (const AxisUse& use : op.axes) c.dims[use.axis] = std::max(use.least, extent);
      if (!add(c)) continue;
      for (const AxisUse& use : op.axes) {
        Case longer = c;
        longer.dims[use.axis] *= 2;
        if (alike == 0) add(longer);
      }
      if (++alike == 2) break;
    }
  }
  return cases;
}

// Tries candidates on small cases, and keeps those that hold in all.
class Search {
 public:
  Search(const Op& op, const Case& like) : op_(op), small_(small_cases(op, like)) {
    if (small_.empty()) return;
    for (const std::string_view fill : fill_names(op.shape())) hold_out(fill, 1);
    for (std::uint64_t seed = 2; seed <= kSeeds; ++seed) hold_out("normal", seed);
    for (const TensorSpec& t : op.tensors)
      if (t.role == Role::output) outputs_.push_back(t.name);
  }

  std::vector<Relation> found() {
    for (const Relation& r : op_.hooks.relations) check_stated(r);
    if (small_.empty() || !op_.hooks.oracle) return {};
    for (const AxisUse& use : op_.axes) along(use.axis);
    const std::vector<std::string_view> inputs = scalable();
    for (std::size_t a = 0; a < inputs.size(); ++a) {
      for (std::size_t b = a + 1; b < inputs.size(); ++b) swapped(inputs[a], inputs[b]);
      shifted(inputs[a]);
    }
    doubled(inputs);
    return std::move(found_);
  }

 private:
  static bool is_telling(double v) { return v != 0 && std::isfinite(v); }
  const TensorSpec& tensor(std::string_view name) const { return op_.tensors[tensor_index(op_, name)]; }
  bool is_present(const TensorSpec& t) const { return present(t, small_.front().c); }

  // The first small case with other values: lengths and places, zeros, what is not finite.
  void hold_out(std::string_view fill, std::uint64_t seed) {
    Case c = small_.front().c;
    c.fill = fill;
    c.seed = seed;
    if (!admits(c, op_.shape())) return;
    held_out_.emplace_back(op_, c);
    if (!held_out_.back().legal) held_out_.pop_back();
  }

  // How each output keeps it in all cases; empty: in some there is no problem that would be legal, or in all it is the same one.
  // `coarse`: as in Solved, of these cases and of those held out.
  std::vector<Holds> everywhere(const Relation& r, const std::deque<Solved>& cases, std::string_view coarse) const {
    std::vector<Holds> least(outputs_.size(), Holds::to_the_bit);
    bool tells = false;
    const auto try_on = [&](const Solved& original, const Solved& related) {
      const std::vector<Holds> holds = how_it_holds(op_, r, original, related);
      for (std::size_t o = 0; o < holds.size(); ++o) least[o] = std::min(least[o], holds[o]);
      return std::ranges::count(least, Holds::no) < std::ssize(least);
    };
    for (const Solved& s : cases) {
      const std::optional<Solved> related = related_to(op_, s, r);
      if (!related) return {};
      if (is_the_same(s, *related)) continue;
      tells = true;
      if (!try_on(s, *related)) return least;
    }
    if (!tells) return {};
    for (const Solved& s : held_out_) {
      if (r.applies && coarse.empty() && !r.applies(s.c)) continue;
      std::optional<Solved> own;
      if (!coarse.empty()) own.emplace(op_, s.c, coarse);
      const Solved& original = own ? *own : s;
      const std::optional<Solved> related = related_to(op_, original, r);
      if (related && !try_on(original, *related)) break;
    }
    return least;
  }

  // Adds the relation if it holds.  A part of an axis need only be the part of some output.
  void add_if_true(Relation r) { add_if_true(std::move(r), small_, {}); }
  void add_if_true(Relation r, const std::deque<Solved>& cases, std::string_view coarse) {
    const std::vector<Holds> holds = everywhere(r, cases, coarse);
    const auto lost = std::ranges::count(holds, Holds::no);
    if (holds.empty() || lost == std::ssize(holds) || (lost > 0 && r.move != Move::first_part)) return;
    std::vector<std::string_view> loose;
    for (std::size_t o = 0; o < holds.size(); ++o)
      if (holds[o] != Holds::to_the_bit) loose.push_back(outputs_[o]);
    if (loose.size() == holds.size() && r.move == Move::first_part) return;
    const bool shifts = std::ranges::any_of(r.scaled, [](const Relation::Scaled& s) { return s.added != 0; });
    r.bits = !shifts && loose.size() < holds.size();
    if (r.bits) r.within_bounds = std::move(loose);
    found_.push_back(std::move(r));
  }

  // Starts of sequences and scales of blocks follow from an axis in a way that no permutation keeps.
  bool is_movable(const Axis& axis) const {
    return std::ranges::none_of(op_.tensors, [&](const TensorSpec& t) {
      return is_present(t) && std::ranges::any_of(t.axes, [&](const Extent& e) { return !e.is_axis() && e.axis == axis; });
    });
  }
  void along(const Axis& axis) {
    if (!is_movable(axis)) return;
    const std::string name(axis.name);
    add_if_true({.name = name + "_permuted",
                 .shows = "a result that depends on a place along " + name + ", a term left out or added twice",
                 .move = Move::permuted,
                 .axis = axis});
    // A cut of the last axis moves rows off their alignment, and a product of fewer columns may be split into other parts:
    // kernels may add up in another order.  Indices would lie beyond the part.
    const auto forbids = [&](const TensorSpec& t) {
      const bool is_row = t.axes.size() > 1 && t.axes.back() == Extent(axis) && t.options.dtype != f32;
      return is_present(t) && (t.options.index_of == axis || is_row);
    };
    if (std::ranges::none_of(op_.tensors, forbids))
      add_if_true({.name = "first_" + name,
                   .shows = "a result that depends on the extent of " + name,
                   .move = Move::first_part,
                   .axis = axis});
  }

  std::vector<std::string_view> scalable() const {
    std::vector<std::string_view> names;
    for (const TensorSpec& t : op_.tensors)
      if (is_given(t) && is_present(t) && is_float(t.options.dtype.value_or(f32))) names.push_back(t.name);
    return names;
  }
  // Whether an output is the sum or the product of two inputs.  Where it is not, other terms may come between.
  bool meet(std::string_view a, std::string_view b) const {
    const Solved& s = small_.front();
    const auto image = [&](std::string_view name) {
      const std::size_t t = tensor_index(op_, name);
      Tensor x = s.packing.placements[t].tensor;
      x.data = const_cast<std::byte*>(s.inputs.data() + s.packing.given[t]);
      return x;
    };
    const Tensor x = image(a), y = image(b);
    return std::ranges::any_of(s.rounded, [&](const std::vector<double>& output) {
      bool sum = std::ssize(output) == x.size(), product = sum;
      for (std::int64_t i = 0; (sum || product) && i < x.size(); ++i) {
        const double v = output[static_cast<std::size_t>(i)];
        sum = sum && v == round_to(f32, x.at(i) + y.at(i));
        product = product && v == round_to(f32, x.at(i) * y.at(i));
      }
      return sum || product;
    });
  }
  void swapped(std::string_view a, std::string_view b) {
    if (tensor(a).axes != tensor(b).axes || tensor(a).options.dtype != tensor(b).options.dtype || !meet(a, b)) return;
    add_if_true({.name = fmt::format("{}_{}_swapped", a, b),
                 .shows = fmt::format("{} and {} treated unlike each other", a, b),
                 .swapped = {a, b}});
  }

  // What becomes of each output in the first small case that shows it: a factor, or something added.
  bool add_outputs(Relation& r, const std::deque<Solved>& cases, bool shifts) const {
    const auto shows = [&](const Solved& s) {
      for (std::size_t output = 0; output < outputs_.size(); ++output)
        if (std::ranges::none_of(s.rounded[output], is_telling)) return false;
      return true;
    };
    const auto original = std::ranges::find_if(cases, shows);
    if (original == cases.end()) return false;
    const std::optional<Solved> related = related_to(op_, *original, r);
    if (!related) return false;
    std::size_t output = 0;
    for (const Pair& p : outputs_of(op_, r, *original, *related)) {
      const std::string_view name = outputs_[output++];
      // Note: of the oracle, whose bits are always the same.  The golden's may depend on where its arrays lie.
      const auto same = std::ranges::find_if(p.rounded_original, is_telling);
      const bool given = std::ranges::any_of(r.scaled, [&](const Relation::Scaled& s) { return s.tensor == name; });
      if (given) continue;  // an updated output, which is to grow as its first values do
      const double before = *same, after = p.rounded_related[static_cast<std::size_t>(same - p.rounded_original.begin())];
      if (shifts) {
        const bool moved = std::fabs(after - before) > kAdded / 2;
        if (moved) r.scaled.push_back({.tensor = name, .added = kAdded});
      } else if (const double factor = after / before; factor != 1) {
        if (factor != 0.25 && factor != 0.5 && factor != 2 && factor != 4) return false;
        r.scaled.push_back({.tensor = name, .factor = factor});
      }
    }
    return true;
  }
  void shifted(std::string_view input) {
    Relation r{.name = fmt::format("{}_shifted", input),
               .shows = "a maximum or a mean that is not subtracted",
               .scaled = {{.tensor = input, .added = kAdded}},
               .applies = [&op = op_](const Case& c) {  // other values are seldom such as 64 can be added to without an error
                 const Fill* fill = find_fill(op.shape(), c.fill);
                 return fill && fill->exact;
               }};
    std::deque<Solved> coarse;
    for (const Solved& s : small_) coarse.emplace_back(op_, s.c, input);
    if (add_outputs(r, coarse, true)) add_if_true(std::move(r), coarse, input);
  }

  // Attributes that have a size, such as epsilon, and may have to grow with the inputs' squares.
  std::vector<const Attribute*> sizes() const {
    std::vector<const Attribute*> sized;
    for (const Attribute& a : op_.attributes)
      if (a.choices.empty() && a.standard != 0) sized.push_back(&a);
    return sized;
  }
  bool double_together(const std::vector<std::string_view>& inputs, const Attribute* grows) {
    Relation r{.name = fmt::format("{}_doubled", fmt::join(inputs, "_")),
               .shows = grows ? fmt::format("{} in the wrong place, a threshold, clamping", grows->name)
                              : "a wrong scale, a threshold, clamping",
               .applies = [](const Case& c) { return c.fill == "normal" || c.fill == "unit"; }};
    if (grows)
      r.change = [name = std::string(grows->name), standard = grows->standard](Case& c) {
        c.attributes[name] = 4 * attribute(c, name, standard);
      };
    for (const std::string_view input : inputs) r.scaled.push_back({.tensor = input, .factor = 2});
    const std::size_t before = found_.size();
    if (add_outputs(r, small_, false)) add_if_true(std::move(r));
    return found_.size() > before;
  }
  // The smallest sets of inputs of which it is true.
  void doubled(const std::vector<std::string_view>& inputs) {
    std::vector<std::vector<std::size_t>> open{{}}, kept;
    for (std::size_t size = 0; size < kTogether; ++size) {
      std::vector<std::vector<std::size_t>> longer;
      for (const std::vector<std::size_t>& set : open)
        for (std::size_t next = set.empty() ? 0 : set.back() + 1; next < inputs.size(); ++next) {
          longer.push_back(set);
          longer.back().push_back(next);
        }
      std::erase_if(longer, [&](const auto& set) {
        if (std::ranges::any_of(kept, [&](const auto& small) { return std::ranges::includes(set, small); })) return true;
        std::vector<std::string_view> names;
        for (const std::size_t i : set) names.push_back(inputs[i]);
        bool is = double_together(names, nullptr);
        for (const Attribute* a : sizes()) is = is || double_together(names, a);
        if (is) kept.push_back(set);
        return is;
      });
      open = std::move(longer);
    }
  }

  void check_stated(const Relation& r) const {
    for (const Solved& s : small_) {
      if (r.applies && !r.applies(s.c)) continue;
      const std::optional<Solved> related = related_to(op_, s, r);
      if (!related) continue;
      const std::vector<Holds> holds = how_it_holds(op_, r, s, *related);
      for (std::size_t o = 0; o < holds.size(); ++o)
        if (holds[o] == Holds::no && r.move != Move::first_part)
          throw BadInput(fmt::format("{}: the relation {} is not true of its formula: {} differs in {}", op_.name, r.name,
                                     outputs_[o], repro(s.c, op_.shape())));
    }
  }

  const Op& op_;
  std::deque<Solved> small_, held_out_;
  std::vector<std::string_view> outputs_;
  std::vector<Relation> found_;
};

// A first part needs at least two rows: with one row strides are irrelevant, so a kernel may take another path.
bool enough(const Relation& r, const Case& c) {
  const std::int64_t n = c.dims[r.axis];
  return r.move == Move::permuted ? n >= 2 : r.move != Move::first_part || n >= 3;
}

// Note: in layout `alone`, extents decide which tensor is not aligned, and so which accesses a kernel makes.
bool changes_extents(const Relation& r) { return r.move == Move::first_part || r.move == Move::regrouped; }

}  // namespace

std::span<const Relation> all_relations(const Op& op, const Case& c) {
  using Key = std::pair<std::string_view, std::vector<std::map<std::string, double>>>;
  static std::mutex one_at_a_time;
  static std::map<Key, std::vector<Relation>> known;
  const std::lock_guard lock(one_at_a_time);
  const Key key{op.name, kinds_of(op, c)};
  if (const auto at = known.find(key); at != known.end()) return at->second;
  std::vector<Relation> relations = op.hooks.relations;
  for (Relation& r : Search(op, c).found()) {
    const auto same = [&](const Relation& stated) { return stated.name == r.name; };
    if (std::ranges::none_of(op.hooks.relations, same)) relations.push_back(std::move(r));
  }
  return known.emplace(key, std::move(relations)).first->second;
}

const Relation* find_relation(const Op& op, const Case& c, std::string_view name) {
  for (const Relation& r : all_relations(op, c))
    if (r.name == name) return &r;
  return nullptr;
}

std::vector<std::string> relations_of(const Op& op, const Case& c, Relations which) {
  std::vector<std::string> names;
  // Note: a related problem is made in memory without holes.
  const Layout* layout = find_layout(c.layout);
  if (which == Relations::none || elements(c, op.shape()) == 0 || (layout && layout->far)) return names;
  const std::uint64_t bits = random::mix(c.seed ^ random::hash(op.name));
  if (which == Relations::share && (bits % kOneIn != 0 || elements(c, op.shape()) > kMostShared)) return names;
  for (const Relation& r : all_relations(op, c))
    if (enough(r, c) && (!r.applies || r.applies(c)) && !(layout && layout->alone && changes_extents(r))) names.push_back(r.name);
  if (which == Relations::all || names.empty()) return names;
  return {names[bits / kOneIn % names.size()]};
}

}  // namespace assay
