// SPDX-License-Identifier: Apache-2.0
// The kinds of operations of which a formula is made (graph.hpp).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace assay::formula {

enum class Kind : std::uint8_t {
  input,
  constant,
  index,
  add,
  subtract,
  multiply,
  divide,
  negate,
  square,
  absolute,
  round,
  floor,
  ceil,
  pow2_floor,
  pow2_ceil,
  maximum,
  minimum,
  quotient,
  less,
  at_most,
  where,
  take,
  put,
  exp,
  log,
  tanh,
  erf,
  sigmoid,
  softplus,
  silu,
  gelu_tanh,
  gelu_erf,
  sqrt,
  rsqrt,
  cos_turn,
  sin_turn,
  sum,
  max,
  dot,
  softmax,
  softmax_or_zero,
  logsumexp,
  log_softmax,
  step,
  rounded_to,
  either,
  given,
  scan,
  result,
};

// How an evaluator treats a kind.
enum class Group : std::uint8_t {
  leaf,          // a tensor, a number, positions along an axis, or what a step of a scan is given
  arithmetic,    // of one or two arrays, element by element, one rounding
  function,      // of one array, element by element, with the function's own error
  reduction,     // over axes that the result lacks
  row_function,  // of whole rows
  gather,        // of one array, from or to places that another one says
  recurrence     // a scan, which computes a graph of its own once for each position of an axis, and its results
};

struct KindInfo {
  std::string_view name;
  Group group;
  int arguments;  // -1: any number
  double flops;   // per element of the result; of a reduction, per term
};

inline constexpr std::array<KindInfo, 49> kKinds{{
    {"input", Group::leaf, 0, 0},
    {"constant", Group::leaf, 0, 0},
    {"index", Group::leaf, 0, 0},
    {"add", Group::arithmetic, 2, 1},
    {"subtract", Group::arithmetic, 2, 1},
    {"multiply", Group::arithmetic, 2, 1},
    {"divide", Group::arithmetic, 2, 1},
    {"negate", Group::arithmetic, 1, 1},
    {"square", Group::arithmetic, 1, 1},
    {"absolute", Group::arithmetic, 1, 1},
    {"round", Group::arithmetic, 1, 1},
    {"floor", Group::arithmetic, 1, 1},
    {"ceil", Group::arithmetic, 1, 1},
    {"pow2_floor", Group::arithmetic, 1, 1},
    {"pow2_ceil", Group::arithmetic, 1, 1},
    {"maximum", Group::arithmetic, 2, 1},
    {"minimum", Group::arithmetic, 2, 1},
    {"quotient", Group::arithmetic, 2, 1},
    {"less", Group::arithmetic, 2, 1},
    {"at_most", Group::arithmetic, 2, 1},
    {"where", Group::arithmetic, 3, 1},
    {"take", Group::gather, 2, 0},
    {"put", Group::gather, 2, 0},
    {"exp", Group::function, 1, 8},
    {"log", Group::function, 1, 8},
    {"tanh", Group::function, 1, 8},
    {"erf", Group::function, 1, 8},
    {"sigmoid", Group::function, 1, 8},
    {"softplus", Group::function, 1, 8},
    {"silu", Group::function, 1, 8},
    {"gelu_tanh", Group::function, 1, 8},
    {"gelu_erf", Group::function, 1, 8},
    {"sqrt", Group::function, 1, 8},
    {"rsqrt", Group::function, 1, 8},
    {"cos_turn", Group::function, 3, 16},
    {"sin_turn", Group::function, 3, 16},
    {"sum", Group::reduction, 1, 1},
    {"max", Group::reduction, 1, 1},
    {"dot", Group::reduction, 2, 2},
    {"softmax", Group::row_function, 1, 12},
    {"softmax_or_zero", Group::row_function, 1, 12},
    {"logsumexp", Group::reduction, 1, 10},
    {"log_softmax", Group::row_function, 1, 10},
    {"step", Group::arithmetic, 1, 0},
    {"rounded_to", Group::arithmetic, 1, 0},
    {"either", Group::arithmetic, 2, 0},
    {"given", Group::leaf, 0, 0},
    {"scan", Group::recurrence, -1, 0},
    {"result", Group::recurrence, 1, 0},
}};
constexpr const KindInfo& info(Kind k) { return kKinds[static_cast<std::size_t>(k)]; }

// Whether a node's elements are elements of its arguments, or these with another sign.
constexpr bool chooses(Kind k) {
  return k == Kind::negate || k == Kind::absolute || k == Kind::maximum || k == Kind::minimum || k == Kind::where ||
         k == Kind::take || k == Kind::put || k == Kind::max || k == Kind::either;
}

// Whether a node's elements are those of its argument, each moved to a number of a grid: never down where the argument rises.
constexpr bool is_staircase(Kind k) {
  return k == Kind::rounded_to || k == Kind::round || k == Kind::floor || k == Kind::ceil || k == Kind::pow2_floor ||
         k == Kind::pow2_ceil;
}

}  // namespace assay::formula
