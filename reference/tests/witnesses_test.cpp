// SPDX-License-Identifier: Apache-2.0
// Tests formulas against witnesses: small cases with outputs that datasets/witnesses/make.py computed from the op's definition.
// Formulas that are wrong on purpose must not meet them.
#include <algorithm>
#include <cmath>
#include <fstream>
#include <functional>
#include <map>

#include <nlohmann/json.hpp>

#include "catch_shim.hpp"
#include "reference/tests/formula_testing.hpp"
#include "validate/cases/suite.hpp"

namespace assay {
namespace {

using namespace formula;
using Json = nlohmann::json;

void flatten(const Json& from, std::vector<double>& to) {
  if (from.is_string()) return to.push_back(std::stod(from.get<std::string>()));  // inf, nan
  if (!from.is_array()) return to.push_back(from.get<double>());
  for (const Json& part : from) flatten(part, to);
}

// The attributes that change a graph's nodes, not only its numbers.
std::string form_of(Json attributes) {
  attributes.erase("epsilon");
  return attributes.dump();
}

struct Witness {
  std::unique_ptr<test::FilledCase> made;
  std::string attributes;
  std::vector<Graph> graphs;                  // one, or each way that kernels may go
  std::vector<std::vector<double>> expected;  // by output

  Witness(const Op& op, const Json& json) : attributes(form_of(json.at("attributes"))) {
    Case c{.op = std::string(op.name), .dtype = f32};
    for (const AxisUse& use : op.axes) c.dims[use.axis] = json.at("dims").at(std::string(use.axis.name)).get<std::int64_t>();
    for (const Attribute& a : op.attributes) {
      const auto at = json.at("attributes").find(std::string(a.name));
      if (at == json.at("attributes").end()) continue;
      if (at->is_number()) {
        c.attributes[std::string(a.name)] = at->get<double>();
        continue;
      }
      const auto word = std::find(a.choices.begin(), a.choices.end(), at->get<std::string>());
      REQUIRE(word != a.choices.end());
      c.attributes[std::string(a.name)] = static_cast<double>(word - a.choices.begin());
    }
    made = std::make_unique<test::FilledCase>(op, c);
    for (const auto& [name, values] : json.at("inputs").items()) {
      std::vector<double> flat;
      flatten(values, flat);
      const Tensor& t = made->tensor(name);
      REQUIRE(t.size() == static_cast<std::int64_t>(flat.size()));
      for (std::size_t i = 0; i < flat.size(); ++i) t.set(static_cast<std::int64_t>(i), flat[i]);
    }
    const Graph graph = test::trace(*made);
    for (const bool second : {false, true})
      if (Graph one = decided(graph, [second](const Node&) { return second; }); graphs.empty() || one != graphs[0])
        graphs.push_back(std::move(one));
    for (const Port& p : graph.outputs) flatten(json.at("outputs").at(p.name), expected.emplace_back());
  }

  // Whether a graph of this case's tensors has the outputs that are expected, to 1e-12.  One that takes what is not there has
  // not.
  bool meets(const Graph& g) const {
    const std::vector<Tensor> inputs = test::inputs_of(g, *made);
    try {
      return meets(Values(g, inputs));
    } catch (const FormulaError&) {
      return false;
    }
  }
  bool meets(const Values& values) const {
    for (std::size_t o = 0; o < expected.size(); ++o) {
      const std::vector<double> got = values.output(o);
      REQUIRE(got.size() == expected[o].size());
      for (std::size_t i = 0; i < got.size(); ++i) {
        const double want = expected[o][i];
        const bool same = got[i] == want || (std::isnan(got[i]) && std::isnan(want)) ||
                          std::fabs(got[i] - want) <= 1e-12 * std::max(1.0, std::fabs(want));
        if (!same) return false;
      }
    }
    return true;
  }
};

std::vector<Witness> witnesses_of(const Op& op) {
  std::ifstream file(std::string(ASSAY_DATASETS_DIR) + "/witnesses/" + std::string(op.name) + ".json");
  INFO(op.name);
  REQUIRE(file);
  std::vector<Witness> list;
  for (const Json& json : Json::parse(file)) list.emplace_back(op, json);
  return list;
}

// One mistake in a graph's node, if the node allows it: another kind, another constant, the node left out.
struct Mistake {
  std::string what;
  std::function<bool(Graph&, std::size_t)> make;
};

bool replace_kind(Graph& g, std::size_t i, Kind from, Kind to) {
  if (g.nodes[i].kind != from) return false;
  g.nodes[i].kind = to;
  return true;
}

// A constant becomes what `changed` makes of it, if that is another.
bool replace_constant(Graph& g, std::size_t i, double (*changed)(double)) {
  Node& n = g.nodes[i];
  if (n.kind != Kind::constant || changed(n.number) == n.number) return false;
  n.number = changed(n.number);
  return true;
}

// The node's users take its argument in its place.
bool leave_out(Graph& g, std::size_t i, std::size_t argument) {
  const Node& n = g.nodes[i];
  if (n.kind == Kind::step || argument >= n.arguments.size()) return false;
  const int instead = n.arguments[argument];
  if (g.nodes[static_cast<std::size_t>(instead)].axes != n.axes) return false;
  for (Node& user : g.nodes)
    for (int& a : user.arguments)
      if (a == static_cast<int>(i)) a = instead;
  for (Port& p : g.outputs)
    if (p.node == static_cast<int>(i)) p.node = instead;
  return true;
}

// Of `take`: another place that depends on the one asked for, `first - place` or `first + place`.
bool take_elsewhere(Graph& g, std::size_t i, Kind kind, double first) {
  if (g.nodes[i].kind != Kind::take) return false;
  for (Node& n : g.nodes)
    for (int& a : n.arguments)
      if (a >= static_cast<int>(i)) a += 2;
  for (Port& p : g.outputs)
    if (p.node >= static_cast<int>(i)) p.node += 2;
  const int places = g.nodes[i].arguments[1], at = static_cast<int>(i);
  const AxisSet axes = g.nodes[static_cast<std::size_t>(places)].axes;
  g.nodes.insert(g.nodes.begin() + at,
                 {{.kind = Kind::constant, .number = first}, {.kind = kind, .arguments = {at, places}, .axes = axes}});
  g.nodes[i + 2].arguments[1] = at + 1;
  return true;
}

bool is_whole(double v) { return std::isfinite(v) && std::floor(v) == v; }

// What a mistake does not change: a place that is taken and then not used, and which of the scores tells that one is infinite.
bool makes_no_difference(const Graph& g, std::size_t i, std::string_view mistake) {
  const auto used_by = [&](const auto& is) {
    return std::any_of(g.nodes.begin(), g.nodes.end(), [&](const Node& n) {
      return is(n) && std::find(n.arguments.begin(), n.arguments.end(), static_cast<int>(i)) != n.arguments.end();
    });
  };
  // The place that is taken where a table's entry is not used.
  const auto is_place = [&](int node) {
    return std::any_of(g.nodes.begin(), g.nodes.end(),
                       [&](const Node& n) { return n.kind == Kind::take && n.arguments[1] == node; });
  };
  // An array that is taken from for conditions alone.
  const auto is_condition = [&](const Node& put) {
    const auto is_only = [&](const Node& of, auto&& used) {
      const int at = static_cast<int>(&of - g.nodes.data());
      return std::ranges::all_of(g.nodes, [&](const Node& n) {
        return std::ranges::find(n.arguments, at) == n.arguments.end() || (n.arguments[0] == at && used(n));
      });
    };
    return is_only(put, [&](const Node& n) {
      return n.kind == Kind::take && is_only(n, [](const Node& user) { return user.kind == Kind::where; });
    });
  };
  if (mistake == "a whole number one more")
    return used_by([&](const Node& n) {
      const bool only_shows_where = n.kind == Kind::put && n.arguments[0] == static_cast<int>(i) && is_condition(n);
      return only_shows_where ||
             (n.kind == Kind::where && n.arguments[2] == static_cast<int>(i) && is_place(static_cast<int>(&n - g.nodes.data())));
    });
  if (mistake == "a step left out" || mistake == "the other operand alone")
    return g.nodes[i].kind == Kind::where && used_by([](const Node& n) { return n.kind == Kind::take; });
  return mistake == "a sum for a maximum" && used_by([](const Node& n) { return n.kind == Kind::less; });
}

const std::vector<Mistake> kMistakes = {
    {"a constant 1 % larger",
     [](Graph& g, std::size_t i) {
       return replace_constant(g, i, [](double v) { return is_whole(v) || std::isinf(v) ? v : v * 1.01; });
     }},
    {"a whole number one more",
     [](Graph& g, std::size_t i) { return replace_constant(g, i, [](double v) { return is_whole(v) ? v + 1 : v; }); }},
    {"the other infinity",
     [](Graph& g, std::size_t i) { return replace_constant(g, i, [](double v) { return std::isinf(v) ? -v : v; }); }},
    {"a base 1 % larger",
     [](Graph& g, std::size_t i) {
       Node& n = g.nodes[i];
       if ((n.kind != Kind::cos_turn && n.kind != Kind::sin_turn) || n.number == 0) return false;
       n.number *= 1.01;
       return true;
     }},
    {"a sine for a cosine", [](Graph& g, std::size_t i) { return replace_kind(g, i, Kind::cos_turn, Kind::sin_turn); }},
    {"a cosine for a sine", [](Graph& g, std::size_t i) { return replace_kind(g, i, Kind::sin_turn, Kind::cos_turn); }},
    {"at most for less", [](Graph& g, std::size_t i) { return replace_kind(g, i, Kind::less, Kind::at_most); }},
    {"less for at most", [](Graph& g, std::size_t i) { return replace_kind(g, i, Kind::at_most, Kind::less); }},
    {"either for both", [](Graph& g, std::size_t i) { return replace_kind(g, i, Kind::minimum, Kind::maximum); }},
    {"NaN where nothing is seen",
     [](Graph& g, std::size_t i) { return replace_kind(g, i, Kind::softmax_or_zero, Kind::softmax); }},
    {"minus for plus", [](Graph& g, std::size_t i) { return replace_kind(g, i, Kind::add, Kind::subtract); }},
    {"plus for minus", [](Graph& g, std::size_t i) { return replace_kind(g, i, Kind::subtract, Kind::add); }},
    {"a quotient for a product", [](Graph& g, std::size_t i) { return replace_kind(g, i, Kind::multiply, Kind::divide); }},
    {"a product for a quotient", [](Graph& g, std::size_t i) { return replace_kind(g, i, Kind::divide, Kind::multiply); }},
    {"a magnitude for a square", [](Graph& g, std::size_t i) { return replace_kind(g, i, Kind::square, Kind::absolute); }},
    {"a root for its reciprocal", [](Graph& g, std::size_t i) { return replace_kind(g, i, Kind::rsqrt, Kind::sqrt); }},
    {"the other form of GELU", [](Graph& g, std::size_t i) { return replace_kind(g, i, Kind::gelu_tanh, Kind::gelu_erf); }},
    {"the other form of GELU", [](Graph& g, std::size_t i) { return replace_kind(g, i, Kind::gelu_erf, Kind::gelu_tanh); }},
    {"SiLU for GELU", [](Graph& g, std::size_t i) { return replace_kind(g, i, Kind::gelu_tanh, Kind::silu); }},
    {"a maximum for a sum", [](Graph& g, std::size_t i) { return replace_kind(g, i, Kind::sum, Kind::max); }},
    {"a sum for a maximum", [](Graph& g, std::size_t i) { return replace_kind(g, i, Kind::max, Kind::sum); }},
    {"a maximum for its logarithm of a sum",
     [](Graph& g, std::size_t i) { return replace_kind(g, i, Kind::logsumexp, Kind::max); }},
    {"a logarithm of softmax", [](Graph& g, std::size_t i) { return replace_kind(g, i, Kind::softmax, Kind::log_softmax); }},
    {"the element after the one asked for", [](Graph& g, std::size_t i) { return take_elsewhere(g, i, Kind::add, 1); }},
    {"elements counted from the end",
     [](Graph& g, std::size_t i) {
       const AxisSet along = g.nodes[i].over;
       return take_elsewhere(g, i, Kind::subtract, static_cast<double>(g.size(along)) - 1);
     }},
    {"a sigmoid for SiLU", [](Graph& g, std::size_t i) { return replace_kind(g, i, Kind::silu, Kind::sigmoid); }},
    {"GELU for SiLU", [](Graph& g, std::size_t i) { return replace_kind(g, i, Kind::silu, Kind::gelu_tanh); }},
    {"a softmax for its logarithm", [](Graph& g, std::size_t i) { return replace_kind(g, i, Kind::log_softmax, Kind::softmax); }},
    {"rounded to 16 bits",
     [](Graph& g, std::size_t i) {
       if (g.nodes[i].kind != Kind::rounded_to) return false;
       g.nodes[i].to = bf16;
       return true;
     }},
    {"a step left out", [](Graph& g, std::size_t i) { return leave_out(g, i, 0); }},
    {"the other operand alone", [](Graph& g, std::size_t i) { return leave_out(g, i, 1); }},
};

}  // namespace

TEST_CASE("witnesses: each formula meets its own, and not with a mistake in it", "[formula]") {
  for (const NamedFormula* f = NamedFormula::first; f; f = f->next) {
    INFO(f->op);
    const std::vector<Witness> witnesses = witnesses_of(*find_op(f->op));
    CHECK(witnesses.size() >= 20);
    // Cases with other attributes have other graphs, so a mistake is tried in each graph, on the cases that share it.
    std::map<std::string, std::vector<const Witness*>> by_form;
    for (const Witness& w : witnesses) {
      for (const Graph& g : w.graphs) CHECK(w.meets(g));
      by_form[w.attributes].push_back(&w);
    }
    int mistakes = 0;
    for (const auto& [form, alike] : by_form)
      for (std::size_t way = 0; way < alike[0]->graphs.size(); ++way)
        for (const Mistake& mistake : kMistakes)
          for (std::size_t i = 0; i < alike[0]->graphs[way].nodes.size(); ++i) {
            const Graph& right = alike[0]->graphs[way];
            const bool is_taken_back = way == 1 && right.nodes[i].kind == Kind::rounded_to;  // what a pivot rounds
            if (is_taken_back || makes_no_difference(right, i, mistake.what)) continue;
            bool made = false, met = true;
            for (const Witness* w : alike) {
              Graph g = w->graphs[way];
              made = mistake.make(g, i);
              if (!made) break;
              met = met && w->meets(g);
            }
            if (!made) continue;
            ++mistakes;
            INFO(form << ": way " << way << ", node " << i << ", " << info(right.nodes[i].kind).name << ", " << mistake.what);
            CHECK(!met);
          }
    CHECK(mistakes >= 2);
  }
}

}  // namespace assay
