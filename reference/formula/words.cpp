// SPDX-License-Identifier: Apache-2.0
#include "reference/formula/words.hpp"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "ops/core/stored.hpp"
#include "reference/formula/values.hpp"
#include "reference/formula/visit.hpp"

namespace assay::formula {
namespace {

const Node& argument(const Graph& graph, const Node& n, std::size_t k) {
  return graph.nodes[static_cast<std::size_t>(n.arguments[k])];
}

bool is_mean(const Graph& graph, const Node& n) { return n.kind == Kind::divide && argument(graph, n, 0).kind == Kind::sum; }

// Whether an array is read by sums alone, as a term or as a factor of one, perhaps behind a mask, a sign or a factor that is a
// number.
bool is_summed(const Graph& graph, int array) {
  if (std::ranges::any_of(graph.outputs, [array](const Port& p) { return p.node == array; })) return false;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const Node& n = graph.nodes[i];
    const auto uses = std::ranges::find(n.arguments, array);
    if (uses == n.arguments.end() || n.kind == Kind::dot || n.kind == Kind::sum) continue;
    const auto other_is_number = [&] {
      return std::ranges::all_of(
          n.arguments, [&](int a) { return a == array || graph.nodes[static_cast<std::size_t>(a)].kind == Kind::constant; });
    };
    const bool passes = n.kind == Kind::step || n.kind == Kind::negate || (n.kind == Kind::multiply && other_is_number()) ||
                        (n.kind == Kind::where && uses != n.arguments.begin());
    if (!passes || !is_summed(graph, static_cast<int>(i))) return false;
  }
  return true;
}

// Whether every element of an array is computed from a sum of products of its own.
bool has_own_sums(const Graph& graph, std::size_t array) {
  std::vector<bool> has(array + 1, false);  // of the nodes so far, a sum for each element of the array
  for (std::size_t i = 0; i <= array; ++i) {
    const Node& n = graph.nodes[i];
    const bool sums = n.kind == Kind::dot && (graph.nodes[array].axes & ~n.axes) == 0;
    has[i] = sums || std::ranges::any_of(n.arguments, [&](int a) { return has[static_cast<std::size_t>(a)]; });
  }
  return has[array];
}

// Visits what kernels may store, by its name: visit(graph, node, name).  A name may come several times.
template <class Visit>
void each_step(const Graph& graph, Visit&& visit) {
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const Node& n = graph.nodes[i];
    if (n.kind == Kind::step) visit(graph, i, n.name);
    if (n.kind != Kind::softmax && n.kind != Kind::softmax_or_zero) continue;
    visit(graph, i, kExps);
    if (is_read(graph, n)) visit(graph, i, kWeights);
  }
  for (const Graph& body : graph.bodies) each_step(body, visit);
}

}  // namespace

std::vector<FormulaStep> steps_of(const Graph& graph) {
  std::vector<FormulaStep> steps;
  each_step(graph, [&](const Graph& of, std::size_t i, std::string_view name) {
    add_step(steps,
             {.name = std::string(name), .is_summed = is_summed(of, static_cast<int>(i)), .has_own_sums = has_own_sums(of, i)});
  });
  return steps;
}

std::vector<std::string> ways_of(const Graph& graph) {
  std::vector<std::string> ways;
  each_node(graph, [&](const Visited& v) {
    const Node& n = v.node;
    if (n.kind == Kind::either && !n.name.empty() && std::ranges::find(ways, n.name) == ways.end()) ways.push_back(n.name);
  });
  return ways;
}

bool is_read(const Graph& graph, const Node& softmax) {
  return std::ranges::any_of(graph.nodes, [&](const Node& n) {
    return std::ranges::any_of(n.arguments, [&](int a) { return &graph.nodes[static_cast<std::size_t>(a)] == &softmax; });
  });
}

Legality has_rules(const Graph& all, const Numerics& numerics) {
  const Graph graph = decided(all, numerics.ways);
  for (const Graph& body : graph.bodies)
    if (const Legality legal = has_rules(body, numerics); !legal) return legal;
  if (!graph.bodies.empty() && (numerics.mma_terms || numerics.factors.precision))
    return Legality::no("a recurrence has no rule for tensor cores and narrowed factors, which take several steps at once");
  const auto rounds = [](const Node& n) { return n.kind == Kind::rounded_to; };
  if (std::ranges::any_of(graph.nodes, rounds) && unit_roundoff(numerics.accumulate) > unit_roundoff(f32))
    return Legality::no("a result that the op rounds has no rule for accumulators narrower than f32");
  return Legality::yes();
}

namespace {

// Of the declared steps, those that the graph has and whose results are rounded.
std::string_view stores_read(const Graph& graph, DType storage, const Numerics& numerics) {
  std::string list;
  each_step(graph, [&](const Graph&, std::size_t, std::string_view step) {
    const std::optional<DType> to = stored_as(numerics, step, storage);
    if (!to || !said_of(list, step).empty()) return;
    append_name(list, step);
    if (*to == storage) return;
    list += ':';
    list += name(*to);
  });
  return lasting(list);
}

std::string_view ways_read(const Graph& graph, const Numerics& numerics) {
  std::string list;
  for (const std::string& way : ways_of(graph))
    if (lists(numerics.ways, way)) append_name(list, way);
  return lasting(list);
}

}  // namespace

Numerics words_read(const Graph& graph, DType storage, const Numerics& numerics) {
  using N = Numerics;
  Numerics read{.accumulate = numerics.accumulate,
                .stores = stores_read(graph, storage, numerics),
                .ways = ways_read(graph, numerics),
                .of_output = numerics.of_output};
  const auto reads = [&](auto... words) { ((read.*words = numerics.*words), ...); };
  each_node(graph, [&](const Visited& v) {
    const Node& n = v.node;
    switch (n.kind) {
      case Kind::divide:
        reads(&N::quotient_error);
        if (is_mean(v.graph, n)) reads(&N::running_moments);
        break;
      case Kind::subtract:
        if (is_mean(v.graph, argument(v.graph, n, 1))) reads(&N::folded_affine);
        break;
      case Kind::log: reads(&N::function_error); break;
      case Kind::exp:
        reads(&N::function_error, &N::flushes_subnormals);
        if (argument(v.graph, n, 0).kind == Kind::subtract) reads(&N::fused_exponent);
        break;
      case Kind::tanh:
      case Kind::erf:
      case Kind::softplus: reads(&N::function_error, &N::flushes_subnormals); break;
      case Kind::sigmoid: reads(&N::function_error, &N::flushes_subnormals, &N::exponent_error, &N::quotient_error); break;
      case Kind::silu:
        reads(&N::function_error, &N::flushes_subnormals, &N::exponent_error, &N::quotient_error, &N::tanh_sigmoid);
        break;
      case Kind::gelu_tanh:
      case Kind::gelu_erf:
        reads(&N::function_error, &N::flushes_subnormals, &N::exponent_error, &N::quotient_error, &N::cancelling_gelu);
        break;
      case Kind::cos_turn:
      case Kind::sin_turn: reads(&N::function_error, &N::angle_error, &N::reduced_angle_error); break;
      case Kind::sqrt: reads(&N::root_error); break;
      case Kind::rsqrt: reads(&N::root_error, &N::quotient_error); break;
      case Kind::sum: reads(&N::chain, &N::flushes_storage); break;
      case Kind::dot:
        reads(&N::chain, &N::mma_terms, &N::factors, &N::flushes_storage);
        if (mean_of(v.graph, n).weights >= 0) reads(&N::quotient_error);
        break;
      case Kind::softmax:
      case Kind::softmax_or_zero: reads(&N::quotient_error); [[fallthrough]];
      case Kind::logsumexp:
      case Kind::log_softmax:
        reads(&N::chain, &N::function_error, &N::fused_exponent, &N::flushes_subnormals, &N::rescales);
        break;
      // These read the accumulator's format alone.
      case Kind::input:
      case Kind::constant:
      case Kind::index:
      case Kind::add:
      case Kind::multiply:
      case Kind::negate:
      case Kind::square:
      case Kind::absolute:
      case Kind::round:
      case Kind::floor:
      case Kind::ceil:
      case Kind::pow2_floor:
      case Kind::pow2_ceil:
      case Kind::maximum:
      case Kind::minimum:
      case Kind::quotient:
      case Kind::less:
      case Kind::at_most:
      case Kind::where:
      case Kind::take:
      case Kind::put:
      case Kind::max:
      case Kind::rounded_to:
      case Kind::step:
      case Kind::either:
      case Kind::given:
      case Kind::scan:
      case Kind::result: break;
    }
  });
  return read;
}

}  // namespace assay::formula
