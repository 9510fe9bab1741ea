// SPDX-License-Identifier: Apache-2.0
#include "reference/formula/words.hpp"

#include <algorithm>

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
  for (std::size_t k = 0; k < n.arguments.size(); ++k) {
    const Node& factor = argument(graph, n, k);
    const bool rotated = factor.kind == Kind::step && factor.stored == Stored::where_rotated;
    if (factor.kind != Kind::input && info(factor.kind).group != Group::gather && !rotated) return true;
  }
  return false;
}

}  // namespace

Legality has_rules(const Graph& graph, const Numerics& numerics) {
  for (const Graph& body : graph.bodies)
    if (const Legality legal = has_rules(body, numerics); !legal) return legal;
  if (!graph.bodies.empty() && (numerics.mma_terms || numerics.factors.precision))
    return Legality::no("a recurrence has no rule for tensor cores and narrowed factors, which take several steps at once");
  const auto rounds = [](const Node& n) { return n.kind == Kind::rounded_to; };
  if (std::ranges::any_of(graph.nodes, rounds) && unit_roundoff(numerics.accumulate) > unit_roundoff(f32))
    return Legality::no("a result that the op rounds has no rule for accumulators narrower than f32");
  // These words narrow a computed factor of a product.  Where there is none they change nothing.
  if (std::ranges::none_of(graph.nodes, [&](const Node& n) { return multiplies_computed(graph, n); })) return Legality::yes();
  if (numerics.scaled_gradients) return Legality::no("scaled_gradients has no rule");
  if (numerics.rounds_weights) return Legality::no("rounds_weights has no rule");
  if (numerics.narrow_probabilities) return Legality::no("narrow_probabilities has no rule");
  return Legality::yes();
}

Numerics words_read(const Graph& graph, DType storage, const Numerics& numerics) {
  using N = Numerics;
  Numerics read{.accumulate = numerics.accumulate, .of_output = numerics.of_output};
  const auto reads = [&](auto... words) { ((read.*words = numerics.*words), ...); };
  const auto may_store = [&](bool N::*word) {  // in the accumulator's own format nothing is rounded again
    if (storage != numerics.accumulate) reads(word);
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
        reads(&N::chain, &N::mma_terms, &N::factors);
        if (mean_of(v.graph, n).weights >= 0)
          reads(&N::quotient_error, &N::flushes_storage, &N::narrow_probabilities, &N::stores_intermediate);
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
      case Kind::step: may_store(stored_by(n.stored)); break;
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
