// SPDX-License-Identifier: Apache-2.0
#include "reference/formula/words.hpp"

#include <algorithm>
#include <utility>

#include "reference/formula/values.hpp"
#include "reference/formula/visit.hpp"

namespace assay::formula {
namespace {

const Node& argument(const Graph& graph, const Node& n, std::size_t k) {
  return graph.nodes[static_cast<std::size_t>(n.arguments[k])];
}

bool is_mean(const Graph& graph, const Node& n) { return n.kind == Kind::divide && argument(graph, n, 0).kind == Kind::sum; }

// A product, other than a mean by weights, with a factor that is computed.
bool multiplies_computed(const Graph& graph, const Node& n) {
  if (n.kind != Kind::dot || mean_of(graph, n).weights >= 0) return false;
  return std::ranges::any_of(n.arguments, [&](int a) {
    const Node& factor = graph.nodes[static_cast<std::size_t>(a)];
    return factor.kind != Kind::input && info(factor.kind).group != Group::gather;
  });
}

// Whether a step, a way or a mean by weights of the graph asks for a word.
bool asks(const Graph& graph, bool Numerics::*word) {
  return std::ranges::any_of(graph.nodes, [&](const Node& n) {
    if (mean_of(graph, n).weights >= 0) return word == &Numerics::narrow_probabilities;
    if (n.kind != Kind::step && n.kind != Kind::either) return false;
    const std::vector<bool Numerics::*> words = words_of(n.stored);
    return std::ranges::find(words, word) != words.end();
  });
}

}  // namespace

Legality has_rules(const Graph& all, const Numerics& numerics) {
  const Graph graph = decided(all, [&](const Node& n) { return stores(numerics, n.stored); });
  for (const Graph& body : graph.bodies)
    if (const Legality legal = has_rules(body, numerics); !legal) return legal;
  if (!graph.bodies.empty() && (numerics.mma_terms || numerics.factors.precision))
    return Legality::no("a recurrence has no rule for tensor cores and narrowed factors, which take several steps at once");
  const auto rounds = [](const Node& n) { return n.kind == Kind::rounded_to; };
  if (std::ranges::any_of(graph.nodes, rounds) && unit_roundoff(numerics.accumulate) > unit_roundoff(f32))
    return Legality::no("a result that the op rounds has no rule for accumulators narrower than f32");
  // Words of factors that a kernel narrows, where the formula does not say which.
  constexpr std::pair<bool Numerics::*, const char*> kNarrowed[] = {{&Numerics::narrow_probabilities, "narrow_probabilities"},
                                                                    {&Numerics::scaled_gradients, "scaled_gradients"},
                                                                    {&Numerics::rounds_weights, "rounds_weights"}};
  if (std::ranges::any_of(all.nodes, [&](const Node& n) { return multiplies_computed(all, n); }))
    for (const auto& [word, name] : kNarrowed)
      if (numerics.*word && !asks(all, word))
        return Legality::no(std::string(name) + " has no rule, as no step of the formula asks for it");
  return Legality::yes();
}

Numerics words_read(const Graph& graph, DType storage, const Numerics& numerics) {
  using N = Numerics;
  Numerics read{.accumulate = numerics.accumulate, .of_output = numerics.of_output};
  const auto reads = [&](auto... words) { ((read.*words = numerics.*words), ...); };
  const auto may_store = [&](auto... words) {  // in the accumulator's own format nothing is rounded again
    if (storage != numerics.accumulate) reads(words...);
  };
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
        if (mean_of(v.graph, n).weights >= 0) reads(&N::quotient_error, &N::narrow_probabilities, &N::stores_intermediate);
        break;
      case Kind::softmax:
      case Kind::softmax_or_zero:
        reads(&N::quotient_error);
        may_store(&N::stores_intermediate);
        [[fallthrough]];
      case Kind::logsumexp:
      case Kind::log_softmax:
        reads(&N::chain, &N::function_error, &N::fused_exponent, &N::flushes_subnormals, &N::rescales);
        break;
      case Kind::step:
        for (bool N::*word : words_of(n.stored)) may_store(word);
        break;
      case Kind::either:
        for (bool N::*word : words_of(n.stored)) reads(word);
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
      case Kind::given:
      case Kind::scan:
      case Kind::result: break;
    }
  });
  return read;
}

}  // namespace assay::formula
