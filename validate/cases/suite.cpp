// SPDX-License-Identifier: Apache-2.0
#include "validate/cases/suite.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "validate/base/error.hpp"
#include "validate/cases/coverage.hpp"
#include "validate/values/layout.hpp"
#include "validate/values/random.hpp"

namespace assay {
namespace {

Case new_case(const OpShape& op, std::string source) {
  Case c;
  c.op = op.name;
  c.source = std::move(source);
  return c;
}
std::vector<DType> every_dtype() { return {kActivationDTypes.begin(), kActivationDTypes.end()}; }
void set(Case& c, const Attribute& a, double v) {
  if (v != a.standard) c.attributes[std::string(a.name)] = v;
}
bool any_group(const Edges* e, std::string_view suite) {
  const auto has = [&](const Group& g) { return std::find(g.suites.begin(), g.suites.end(), suite) != g.suites.end(); };
  return e && std::any_of(e->groups.begin(), e->groups.end(), has);
}

// Adds every combination, axes outermost in the op's order, dtype innermost, so that cases of one shape are adjacent.
template <class Adjust>
void add_group(CaseList& list, const Group& g, const OpShape& op, Adjust adjust) {
  std::vector<Case> all{new_case(op, "edges/" + std::string(op.name))};
  const auto multiply = [&](const auto& values, auto set) {
    std::vector<Case> next;
    for (const Case& c : all)
      for (const auto& v : values) set(next.emplace_back(c), v);
    all = std::move(next);
  };
  for (const AxisUse& use : op.axes)
    multiply(g.axes.at(std::string(use.axis.name)), [&](Case& c, std::int64_t v) { c.dims[use.axis] = v; });
  for (const Attribute& a : op.attributes)
    if (const auto it = g.attributes.find(std::string(a.name)); it != g.attributes.end())
      multiply(it->second, [&](Case& c, const std::string& text) { set(c, a, value_of(a, text)); });
  multiply(g.fills, [](Case& c, const std::string& v) { c.fill = v; });
  multiply(g.layouts, [](Case& c, const std::string& v) { c.layout = v; });
  multiply(g.dtypes.empty() ? every_dtype() : g.dtypes, [](Case& c, DType v) { c.dtype = v; });
  for (Case& c : all) {
    if (const AxisUse* use = find_axis(op, g.blocks_along)) c.blocks_along = use->axis;
    adjust(c);
    list.add(std::move(c));
  }
}

// The default case of an op that has no group of its own for a suite: the first of the suite's extents on each axis.
Case default_case(const Common& common, const OpShape& op, const std::string& suite) {
  Case c = new_case(op, std::string(kCommonSource));
  for (const AxisUse& use : op.axes) c.dims[use.axis] = use.within(of_axis(common.axes.at(suite), use.axis).front());
  return c;
}

// Layout `alone` once for each place, which the sum of the extents selects, with all tensors that an attribute brings.
void add_alone(CaseList& list, const Common& common, const OpShape& op, std::span<const DType> dtypes) {
  Case c = default_case(common, op, "alone");
  c.layout = "alone";
  for (const std::string_view brings : op.brings) c.attributes[std::string(brings)] = 1;
  const AxisUse* counting = &op.axes.front();
  for (const Axis& axis : {Axis::rows, Axis::tokens, Axis::seq_q})
    if (const AxisUse* use = find_axis(op, axis.name)) counting = use;
  for (int place = 0; place < op.alone_places; ++place, ++c.dims[counting->axis])
    for (const DType t : dtypes) {
      c.dtype = t;
      list.add(c);
    }
}

// Each fill at the suite's usual extents, which are several tiles with a ragged tail.
void add_fills(CaseList& list, const Common& common, const OpShape& op, const std::vector<std::string>& fills) {
  Case c = default_case(common, op, "edges");
  if (elements(c, op) > common.most_elements) return;
  for (const std::string& fill : fills)
    for (const DType t : kActivationDTypes) {
      c.fill = fill;
      c.dtype = t;
      list.add(c);
    }
}

// More rows, tokens or batches than a grid has blocks along y and z.  Of all else there is little, and one dtype is enough.
// Batches of heads are in `long`: each is a tile or more, so that simt takes over a minute for them.
void add_counted(CaseList& list, const Common& common, const OpShape& op, const std::string& suite) {
  const bool has_heads = std::ranges::find(op.axes, Axis::heads, &AxisUse::axis) != op.axes.end();
  for (const AxisUse& use : op.axes) {
    const std::int64_t* const counted = find_of_axis(common.counted, use.axis);
    if (!counted || (use.axis == Axis::batch && has_heads) != (suite == "long")) continue;
    for (const std::int64_t each : {3, 8}) {
      Case c = default_case(common, op, "edges");
      for (const AxisUse& other : op.axes) c.dims[other.axis] = other.within(each);
      c.dims[use.axis] = *counted;
      c.dtype = kActivationDTypes.front();
      if (elements(c, op) <= common.most_elements) list.add(std::move(c));
    }
  }
}

// Cases of an op that has no group of its own for a suite: the default one, then each value of each axis alone, then each fill
// and layout.
void add_common(CaseList& list, const Common& common, const OpShape& op, const std::string& suite) {
  const auto add = [&](const Case& c) {
    if (elements(c, op) > common.most_elements) return;
    for (const DType t : kActivationDTypes) {
      Case typed = c;
      typed.dtype = t;
      list.add(std::move(typed));
    }
  };
  const Case usual = default_case(common, op, suite);
  add(usual);
  for (const AxisUse& use : op.axes)
    for (const std::int64_t v : of_axis(common.axes.at(suite), use.axis)) {
      Case c = usual;
      c.dims[use.axis] = v;
      add(c);
    }
  if (suite == "smoke")
    for (const std::string& fill : common.smoke_fills) {
      Case c = usual;
      c.fill = fill;
      add(c);
    }
  for (const std::string& name : common.layouts.at(suite)) {
    const bool far = find_layout(name)->far;
    Case c = default_case(common, op, far ? "sanitize" : suite);
    c.layout = name;
    const Axis first = op.axes.front().axis;
    if (far) c.dims[first] = op.axes.front().within(3);  // a GPU backs all that lies between
    add(c);
  }
}

constexpr std::int64_t kExtentElements = std::int64_t{1} << 17;  // of a case of add_extents()

// Each axis alone at each of `extents`, the others as in `sanitize`: in f32, whose bounds are the narrowest, and in turn in
// another dtype.
void add_extents(CaseList& list, const Common& common, const OpShape& op) {
  const Case usual = default_case(common, op, "sanitize");
  std::size_t turn = 0;
  for (const AxisUse& use : op.axes)
    for (const std::int64_t extent : common.extents) {
      Case c = usual;
      c.dims[use.axis] = extent;
      ++turn;
      if (elements(c, op) > kExtentElements) continue;
      for (const DType t : {f32, turn % 2 ? f16 : bf16}) {
        c.dtype = t;
        list.add(c);
      }
    }
}

bool is_known(const ModelUse& use, const Axis& axis) {
  const std::string key(axis.name);
  return use.values.contains(key) || use.figures.contains(key);
}

// The case of a model with `taken` tokens, where the model has `tokens`.  A window is shortened as the tokens are, so that it
// still hides some.
Case model_case(const Model& m, const ModelUse& use, const OpShape& op, std::int64_t tokens, std::int64_t taken) {
  Case c = new_case(op, "models/" + m.stem);
  c.fill = use.fill;
  const auto give = [&](const std::string& key, const std::string& text) {
    if (const AxisUse* axis = find_axis(op, key)) c.dims[axis->axis] = std::stoll(text);
    try {
      if (const Attribute* a = find_attribute(op, key)) set(c, *a, value_of(*a, text));
    } catch (const BadInput& e) {
      throw BadInput(fmt::format("{}: {}: {}", c.source, op.name, e.what()));
    }
  };
  for (const auto& [key, text] : use.values) give(key, text);
  for (const auto& [key, what] : use.figures) {
    if (what == "tokens") {
      give(key, std::to_string(taken));
      if (const AxisUse* axis = find_axis(op, key); axis && taken != tokens) c.reduced.push_back({key, tokens, taken});
    } else if (what == "window" && m.window > 0 && taken < tokens) {
      const double shortened = static_cast<double>(m.window) * static_cast<double>(taken) / static_cast<double>(tokens);
      give(key, std::to_string(std::max<std::int64_t>(1, static_cast<std::int64_t>(shortened))));
    } else {
      give(key, figure(m, what));
    }
  }
  // Axes of the op's own, of which no model tells.
  const std::string other(kOtherAxis);
  const auto value = use.values.find(other), figure_of_model = use.figures.find(other);
  for (const AxisUse& axis : op.axes) {
    if (is_known(use, axis.axis)) continue;
    if (value != use.values.end()) give(std::string(axis.axis.name), value->second);
    if (figure_of_model != use.figures.end()) give(std::string(axis.axis.name), figure(m, figure_of_model->second));
  }
  return c;
}

void add_model(CaseList& list, Case c) {
  for (const DType t : list.dtypes()) {
    c.dtype = t;
    list.add(c);
  }
}

// Shortens an axis, to no less than `to`, until the case has at most `most` elements.
void cut(Case& c, const OpShape& op, const Axis& axis, std::int64_t to, std::int64_t most) {
  const std::int64_t from = std::as_const(c.dims)[axis];
  if (from <= to || elements(c, op) <= most) return;
  c.dims[axis] = std::max(to, std::min(from, most / std::max<std::int64_t>(1, elements(c, op) / from)));
  const auto earlier =
      std::find_if(c.reduced.begin(), c.reduced.end(), [&](const Case::Reduction& r) { return r.axis == axis.name; });
  if (earlier != c.reduced.end()) earlier->to = c.dims[axis];
  else c.reduced.push_back({std::string(axis.name), from, c.dims[axis]});
}
// Cuts heads down to one group: those of one kv_head.
void cut_heads(Case& c, const OpShape& op, std::int64_t most) {
  const Dims& dims = c.dims;
  const std::int64_t heads = dims[Axis::heads], kv_heads = dims[Axis::kv_heads];
  if (!heads || elements(c, op) <= most) return;
  const std::int64_t left = kv_heads ? heads / kv_heads : 1;  // those of one group
  c.dims[Axis::heads] = left;
  c.reduced.push_back({"heads", heads, left});
  if (kv_heads) c.dims[Axis::kv_heads] = 1;
  if (kv_heads > 1) c.reduced.push_back({"kv_heads", kv_heads, 1});
}

// Shrinks a case that would take minutes on simt: first output features, then heads (keeping the group size), then tokens or
// rows.  Summed axes keep their extent, except in a transformer block.
void fit(Case& c, const OpShape& op, std::int64_t most) {
  // A transformer block is seven products and attention, so summed axes shrink too.
  const Dims& dims = c.dims;
  const bool block = dims[Axis::heads] && dims[Axis::hidden];
  if (block) most /= 16;
  cut(c, op, Axis::out, 33, most);
  cut(c, op, Axis::ffn, 33, most);
  cut_heads(c, op, most);
  cut(c, op, Axis::tokens, 17, most);
  cut(c, op, Axis::rows, 17, most / 4);  // row ops cost the judge more than simt
  if (block) {
    cut(c, op, Axis::seq_q, 5, most);
    cut(c, op, Axis::hidden, 96, most);
  }
}
// The same for a case whose errors depend on every summed extent: fewer heads, then fewer rows and queries.
void fit_rows(Case& c, const OpShape& op, std::int64_t most) {
  cut_heads(c, op, most);
  cut(c, op, Axis::rows, 17, most);
  cut(c, op, Axis::tokens, 2, most);
  cut(c, op, Axis::seq_q, 64, most);
}

void add_models(CaseList& list, const Datasets& d, const ModelUse& use, const OpShape& op, const SuiteOptions& options) {
  for (const Model& m : d.models) {
    if (!suits(m, use)) continue;
    for (const std::int64_t tokens : m.tokens) {
      const std::int64_t taken = options.reduce ? std::min(tokens, options.reduce_rows_to) : tokens;
      Case c = model_case(m, use, op, tokens, taken);
      if (options.reduce) fit(c, op, options.reduce_elements_to);
      add_model(list, std::move(c));
    }
  }
}
constexpr std::int64_t kSmokeElements = std::int64_t{1} << 18;  // larger models' cases are cut down
void add_smoke_models(CaseList& list, const Datasets& d, const ModelUse& use, const OpShape& op) {
  for (const Model& m : d.models) {
    if (!m.smoke || !suits(m, use)) continue;
    Case c = model_case(m, use, op, *std::max_element(m.tokens.begin(), m.tokens.end()), d.common.smoke_tokens);
    // Note: ops with two wide axes have models only in the models suite.
    if (elements(c, op) > d.common.most_elements) continue;
    fit(c, op, kSmokeElements);
    add_model(list, std::move(c));
  }
}

// Those of smoke that have the most pairs of settings, a sixth of them.
std::vector<Case> first_cases(const Datasets& d, const OpShape& op, SuiteOptions options) {
  constexpr std::size_t kShare = 6, kLeast = 12;
  const std::vector<DType> asked = std::exchange(options.dtypes, {});  // Note: which cases there are does not depend on it
  const std::vector<Case> smoke = cases(d, op, "smoke", options);
  std::vector<Case> chosen = richest_in_pairs(smoke, op, std::max(kLeast, smoke.size() / kShare));
  if (!asked.empty())
    std::erase_if(chosen, [&](const Case& c) { return std::find(asked.begin(), asked.end(), c.dtype) == asked.end(); });
  return chosen;
}

}  // namespace

struct CaseList::State {
  const OpShape& op;
  std::uint64_t seed;
  std::vector<DType> dtypes;
  std::vector<Case> list;
  std::unordered_set<std::string> texts;
  Combinations pairs{2}, extents{2};
  bool only_new = false;

  // Counts what the case shows, and returns whether some of it is new.
  // Note: counted for every dtype, whether it is asked for or not, so that `dtypes` does not change which cases there are.
  bool record(const Case& c) {
    std::size_t fresh = pairs.add(settings(c, op));
    for (const AxisUse& use : op.axes)
      fresh += extents.add({fmt::format("{}={}", use.axis.name, c.dims[use.axis]), std::string(name(c.dtype))});
    return fresh > 0;
  }
};

CaseList::CaseList(const OpShape& op, const SuiteOptions& options) : state_(new State{op, options.seed, options.dtypes, {}, {}}) {
  if (state_->dtypes.empty()) state_->dtypes.assign(kActivationDTypes.begin(), kActivationDTypes.end());
}
CaseList::~CaseList() = default;
const std::vector<DType>& CaseList::dtypes() const { return state_->dtypes; }
std::vector<Case> CaseList::take() { return std::move(state_->list); }

void CaseList::only_new_pairs() { state_->only_new = true; }

bool CaseList::add(Case c) {
  const OpShape& op = state_->op;
  if (!admits(c, op)) return false;
  const bool is_new = state_->record(c);
  if (state_->only_new && !is_new) return false;
  if (std::find(dtypes().begin(), dtypes().end(), c.dtype) == dtypes().end()) return false;
  c.seed = 0;
  std::string text = repro(c, op);
  // Note: 32 bits distinguish cases and keep repro lines short.
  c.seed = random::key(state_->seed, random::hash(text), random::Purpose::seed) >> 32;
  if (!state_->texts.insert(std::move(text)).second) return false;
  state_->list.push_back(std::move(c));
  return true;
}

std::vector<Case> cases(const Datasets& d, const OpShape& op, std::string_view suite, const SuiteOptions& options) {
  if (suite == "first") return first_cases(d, op, options);
  const auto& known = suite_names();
  if (std::find(known.begin(), known.end(), suite) == known.end()) throw BadInput(unknown("suite", suite, known));
  if (options.count < 0) throw BadInput(fmt::format("count={}: a count cannot be negative.", options.count));
  if (options.reduce_rows_to < 1) throw BadInput(fmt::format("reduce_rows_to={}: needs at least 1.", options.reduce_rows_to));

  const auto it = d.edges.find(std::string(op.name));
  const Edges* own = it == d.edges.end() ? nullptr : &it->second;
  if (own) check(*own, op);
  const std::vector<ModelUse> uses = own && !own->models.empty() ? own->models : std::vector<ModelUse>{d.common.models};
  CaseList list(op, options);

  const auto edges = [&](const std::string& which) {
    if (!any_group(own, which)) return which == "long" || which == "errors" ? void() : add_common(list, d.common, op, which);
    for (const Group& g : own->groups)
      if (std::find(g.suites.begin(), g.suites.end(), which) != g.suites.end())
        add_group(list, g, op, [&](Case& c) {
          if (options.reduce && which == "errors") fit_rows(c, op, 4 * options.reduce_elements_to);
        });
  };
  const auto combined = [&](int strength) {
    for (Case& c : covering_cases(d, op, strength)) list.add(std::move(c));
  };
  if (suite == "smoke") {
    combined(2);
    add_smoke_models(list, d, uses.front(), op);
    list.only_new_pairs();
    edges("smoke");
    add_alone(list, d.common, op, std::span(kActivationDTypes).first(1));
  }
  if (suite == "sanitize" || suite == "watch" || suite == "fixed") edges(std::string(suite));
  if (suite == "long" || suite == "errors") edges(std::string(suite));
  if (suite == "long") add_counted(list, d.common, op, "long");
  if (suite == "edges" || suite == "full") {
    combined(3);
    for (Case& c : long_cases(d, op)) list.add(std::move(c));
    if (suite == "edges") list.only_new_pairs();
    edges("edges");
    const std::vector<std::string> fills = fills_of_random(ranges_of(d, op), op);
    add_fills(list, d.common, op, fills);
    add_extents(list, d.common, op);
    add_alone(list, d.common, op, kActivationDTypes);
    add_counted(list, d.common, op, "edges");
    for (Case& c : covering_cases(d, op, 2, fills)) list.add(std::move(c));  // a fill and any other setting
  }
  if (suite == "models" || suite == "full")
    for (const ModelUse& use : uses) add_models(list, d, use, op, options);
  if (suite == "random" || suite == "full") add_random(list, ranges_of(d, op), op, options);
  // The first failure of each reason is shown, so cases that somebody wrote come first, combined ones last.
  std::vector<Case> all = list.take();
  const auto rank = [](const Case& c) {
    if (c.source == "combined" || c.source == kCommonSource) return 2;
    return c.source.starts_with("models/") ? 1 : 0;
  };
  std::stable_sort(all.begin(), all.end(), [&](const Case& a, const Case& b) { return rank(a) < rank(b); });
  return all;
}

}  // namespace assay
