// SPDX-License-Identifier: Apache-2.0
#include "validate/problem/search/relation_search.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "validate/base/error.hpp"
#include "validate/problem/search/solved_case.hpp"

namespace assay {

namespace {

using Move = Relation::Move;

constexpr int kTogether = 3;         // most inputs that are doubled together
constexpr double kAdded = 64;        // to an input
constexpr std::uint64_t kSeeds = 5;  // of the first small case

bool is_telling(double v) { return v != 0 && std::isfinite(v); }

void check_stated(const Op& op, const std::deque<SolvedCase>& cases, const Relation& r) {
  for (const SolvedCase& s : cases) {
    if (r.applies && !r.applies(s.c)) continue;
    const std::optional<SolvedCase> related = related_to(op, s, r);
    if (!related || r.move == Move::first_part) continue;  // Note: of a part, an output that is a sum has another value
    const std::vector<Holds> holds = how_it_holds(op, r, s, *related);
    std::size_t output = 0;
    for (const TensorSpec& spec : op.tensors)
      if (spec.role == Role::output && holds[output++] == Holds::no)
        throw BadInput(fmt::format("{}: the relation {} is not true of its formula: {} differs in {}", op.name, r.name, spec.name,
                                   repro(s.c, op.shape())));
  }
}

class Search {
 public:
  Search(const Op& op, std::deque<SolvedCase> small) : op_(op), small_(std::move(small)) {
    for (const std::string_view fill : fill_names(op.shape())) hold_out(fill, 1);
    for (std::uint64_t seed = 2; seed <= kSeeds; ++seed) hold_out("normal", seed);
    for (const TensorSpec& t : op.tensors) {
      if (t.role == Role::output) outputs_.push_back(t.name);
      if (is_given(t) && is_present(t) && !is_index(t.options.dtype.value_or(f32))) inputs_.push_back(t.name);
    }
    const auto tells = [](const SolvedCase& s) {
      return std::ranges::all_of(s.rounded, [](const auto& y) { return std::ranges::any_of(y, is_telling); });
    };
    telling_ = std::ranges::find_if(small_, tells);
  }

  std::vector<Relation> found() && {
    for (const AxisUse& use : op_.axes) permuted(use.axis);
    for (const AxisUse& use : op_.axes) cut(use.axis);
    for (std::size_t a = 0; a < inputs_.size(); ++a)
      for (std::size_t b = a + 1; b < inputs_.size(); ++b) swapped(inputs_[a], inputs_[b]);
    if (telling_ == small_.end()) return std::move(found_);
    for (const std::string_view input : inputs_) shifted(input);
    doubled();
    return std::move(found_);
  }

 private:
  bool is_present(const TensorSpec& t) const { return present(t, small_.front().c); }

  // The first small case with other values: lengths and places, zeros, what is not finite.
  void hold_out(std::string_view fill, std::uint64_t seed) {
    Case c = small_.front().c;
    c.fill = fill;
    c.seed = seed;
    if (admits(c, op_.shape()) && !held_out_.emplace_back(op_, c).legal) held_out_.pop_back();
  }

  // --- Trying ----------------------------------------------------------------------------------------------------------
  // How each output keeps it in all cases; empty: in some small one there is no problem that would be legal, or in all it is the
  // same one.  `coarse`: as in SolvedCase.
  std::vector<Holds> everywhere(const Relation& r, std::string_view coarse) const {
    std::vector<Holds> least(outputs_.size(), Holds::to_the_bit);
    bool tells = false;
    // Whether there is such a problem.
    const auto lower = [&](const SolvedCase& s) {
      std::optional<SolvedCase> own;
      if (!coarse.empty()) own.emplace(op_, s.c, coarse);
      const SolvedCase& original = own ? *own : s;
      const std::optional<SolvedCase> related = related_to(op_, original, r);
      if (!related) return false;
      tells = tells || related->inputs != original.inputs || related->c.attributes != original.c.attributes;
      const std::vector<Holds> holds = how_it_holds(op_, r, original, *related);
      for (std::size_t o = 0; o < holds.size(); ++o) least[o] = std::min(least[o], holds[o]);
      return true;
    };
    const auto is_lost = [&] { return std::ranges::count(least, Holds::no) == std::ssize(least); };
    for (const SolvedCase& s : small_)
      if (!lower(s)) return {};
      else if (is_lost()) return least;
    if (!tells) return {};
    for (const SolvedCase& s : held_out_) {
      if (!coarse.empty() || !r.applies || r.applies(s.c)) lower(s);
      if (is_lost()) break;
    }
    return least;
  }

  // Adds the relation if it holds, and returns whether it does.  A part of an axis need only be the part of some output.
  bool add_if_true(Relation r, std::string_view coarse = {}) {
    const std::vector<Holds> holds = everywhere(r, coarse);
    std::vector<std::string_view> loose;
    bool is_lost = holds.empty();
    for (std::size_t o = 0; o < holds.size(); ++o) {
      if (holds[o] != Holds::to_the_bit) loose.push_back(outputs_[o]);
      is_lost = is_lost || (holds[o] == Holds::no && r.move != Move::first_part);
    }
    const bool is_loose = loose.size() == holds.size();
    if (is_lost || (is_loose && r.move == Move::first_part)) return false;
    r.bits = !is_loose && coarse.empty();
    if (r.bits) r.within_bounds = std::move(loose);
    found_.push_back(std::move(r));
    return true;
  }

  // --- Moves -----------------------------------------------------------------------------------------------------------
  // Starts of sequences and scales of blocks follow from an axis in a way that no permutation keeps.
  bool is_movable(const Axis& axis) const {
    return std::ranges::none_of(op_.tensors, [&](const TensorSpec& t) {
      return is_present(t) && std::ranges::any_of(t.axes, [&](const Extent& e) { return !e.is_axis() && e.axis == axis; });
    });
  }
  void permuted(const Axis& axis) {
    const bool is_found =
        is_movable(axis) && add_if_true({.name = fmt::format("{}_permuted", axis.name),
                                         .shows = fmt::format("a result that depends on a place along {0}, a term of {0} left "
                                                              "out or added twice",
                                                              axis.name),
                                         .move = Move::permuted,
                                         .axis = axis});
    adds_up_ = adds_up_ || (is_found && (!found_.back().bits || !found_.back().within_bounds.empty()));
  }
  // Where terms are added up, a cut of a row moves others off their alignment, or lets a kernel split a product into other parts:
  // either changes the order of sums.  Indices would lie beyond the part.
  void cut(const Axis& axis) {
    const auto forbids = [&](const TensorSpec& t) {
      const bool is_row = t.axes.size() > 1 && t.axes.back() == Extent(axis) && t.options.dtype != f32;
      return is_present(t) && (t.options.holds.index(axis) || (is_row && adds_up_));
    };
    if (is_movable(axis) && std::ranges::none_of(op_.tensors, forbids))
      add_if_true({.name = fmt::format("first_{}", axis.name),
                   .shows = fmt::format("a result that depends on the extent of {}", axis.name),
                   .move = Move::first_part,
                   .axis = axis});
  }

  // --- Exchanged inputs ------------------------------------------------------------------------------------------------
  Tensor given(std::size_t t) {
    SolvedCase& s = small_.front();
    Tensor x = s.packing.placements[t].tensor;
    x.data = s.inputs.data() + s.packing.given[t];
    return x;
  }
  // Only two inputs whose sum or product is an output.  Where it is not, other terms may come between.
  void swapped(std::string_view a, std::string_view b) {
    const std::size_t first = tensor_index(op_, a), second = tensor_index(op_, b);
    if (op_.tensors[first].axes != op_.tensors[second].axes) return;
    const Tensor x = given(first), y = given(second);
    const auto is_made_by = [&](const std::vector<double>& output, auto&& f) {
      bool is = std::ssize(output) == x.size();
      for (std::int64_t i = 0; is && i < x.size(); ++i)
        is = output[static_cast<std::size_t>(i)] == round_to(f32, f(x.at(i), y.at(i)));
      return is;
    };
    const auto meets = [&](const std::vector<double>& output) {
      return is_made_by(output, std::plus()) || is_made_by(output, std::multiplies());
    };
    if (std::ranges::any_of(small_.front().rounded, meets))
      add_if_true({.name = fmt::format("{}_{}_swapped", a, b),
                   .shows = fmt::format("{} and {} treated unlike each other", a, b),
                   .swapped = {a, b}});
  }

  // --- Scaled inputs ---------------------------------------------------------------------------------------------------
  // Adds what becomes of each output; returns whether it is something that a relation can say.  `one_of` makes it of an element
  // before and after.
  template <class OneOf>
  bool add_outputs(Relation& r, const SolvedCase& original, OneOf&& one_of) const {
    const std::optional<SolvedCase> related = related_to(op_, original, r);
    if (!related) return false;
    std::size_t output = 0;
    for (const OutputPair& p : outputs_of(op_, r, original, *related)) {
      const std::string_view name = outputs_[output++];
      const bool is_input = std::ranges::any_of(r.scaled, [&](const Relation::Scaled& s) { return s.tensor == name; });
      const auto at = std::ranges::find_if(p.rounded_original, is_telling);
      if (is_input) continue;  // an updated output, which is to change as its first values do
      if (at == p.rounded_original.end()) return false;
      const Relation::Scaled s = one_of(name, *at, p.rounded_related[static_cast<std::size_t>(at - p.rounded_original.begin())]);
      if (s.factor == 0) return false;
      if (s.factor != 1 || s.added != 0) r.scaled.push_back(s);
    }
    return true;
  }
  void shifted(std::string_view input) {
    Relation r{.name = fmt::format("{}_shifted", input),
               .shows = fmt::format("a maximum or a mean of {} that is not subtracted", input),
               .scaled = {{.tensor = input, .added = kAdded}},
               .applies = [&op = op_](const Case& c) {  // other values are seldom such as 64 can be added to without an error
                 const Fill* fill = find_fill(op.shape(), c.fill);
                 return fill && fill->exact;
               }};
    const auto moved = [](std::string_view output, double before, double after) {
      return Relation::Scaled{.tensor = output, .added = std::fabs(after - before) > kAdded / 2 ? kAdded : 0};
    };
    if (add_outputs(r, SolvedCase(op_, telling_->c, input), moved)) add_if_true(std::move(r), input);
  }
  // `grows`: an attribute that becomes four times as large, as a square of the inputs; null: none.
  bool doubled(const std::vector<std::string_view>& inputs, const Attribute* grows) {
    Relation r{.name = fmt::format("{}_doubled", fmt::join(inputs, "_")),
               .shows = fmt::format("a wrong scale of {}, a threshold, clamping{}", fmt::join(inputs, " and "),
                                    grows ? fmt::format(", {} in the wrong place", grows->name) : ""),
               .applies = [](const Case& c) { return c.fill == "normal" || c.fill == "unit"; }};
    if (grows)
      r.change = [name = std::string(grows->name), standard = grows->standard](Case& c) {
        c.attributes[name] = 4 * attribute(c, name, standard);
      };
    for (const std::string_view input : inputs) r.scaled.push_back({.tensor = input, .factor = 2});
    const auto scaled = [](std::string_view output, double before, double after) {
      const double factor = after / before;
      const bool is_one = factor == 0.25 || factor == 0.5 || factor == 1 || factor == 2 || factor == 4;
      return Relation::Scaled{.tensor = output, .factor = is_one ? factor : 0};
    };
    return add_outputs(r, *telling_, scaled) && add_if_true(std::move(r));
  }
  // The smallest sets of inputs of which it is true, without an attribute or with one that has a size, such as epsilon.
  void doubled() {
    std::vector<const Attribute*> sizes{nullptr};
    for (const Attribute& a : op_.attributes)
      if (a.choices.empty() && a.standard != 0) sizes.push_back(&a);
    std::vector<unsigned> kept;  // sets of inputs
    for (int together = 1; together <= kTogether; ++together)
      for (unsigned set = 1; set < 1u << inputs_.size(); ++set) {
        if (std::popcount(set) != together || std::ranges::any_of(kept, [&](unsigned k) { return (set & k) == k; })) continue;
        std::vector<std::string_view> inputs;
        for (std::size_t i = 0; i < inputs_.size(); ++i)
          if (set >> i & 1) inputs.push_back(inputs_[i]);
        if (std::ranges::any_of(sizes, [&](const Attribute* grows) { return doubled(inputs, grows); })) kept.push_back(set);
      }
  }

  const Op& op_;
  std::deque<SolvedCase> small_, held_out_;
  std::deque<SolvedCase>::iterator telling_;  // the first small case in which each output has a value other than 0
  std::vector<std::string_view> outputs_, inputs_;
  bool adds_up_ = false;  // an order of elements shows in bits
  std::vector<Relation> found_;
};

}  // namespace

std::vector<Relation> search_relations(const Op& op, const Case& like) {
  if (!op.formula.oracle && op.hooks.relations.empty()) return {};
  std::deque<SolvedCase> small = small_cases(op, like);
  for (const Relation& r : op.hooks.relations) check_stated(op, small, r);
  if (!op.formula.oracle || small.empty()) return {};
  return Search(op, std::move(small)).found();
}

}  // namespace assay
