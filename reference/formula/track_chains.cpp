// SPDX-License-Identifier: Apache-2.0
// The rule of chains of additions and subtractions (track.hpp): x_1 + x_2 - x_3 + ... of n terms, which a kernel may add up in
// any order.
//
// The errors t of the terms add up.  The last of the n-1 additions rounds the value v.  Each other one rounds the sum of some
// terms, which is at most that of the positive ones, P, or minus that of the negative ones, N, and the terms' errors:
// (n-2) u (max(P, N) + sum t) in all.  Two terms that both lack an axis may be added up before they are repeated along it: then
// many elements share a rounding, and these count as `any`.  Where P or N leaves the accumulator's range there is no bound, as
// the sum may overflow in one order and not in another.  Where no term errs and all are multiples of some power of two g, sums up
// to 2^p g are exact, with the p bits of the accumulator.
//
// A term that is a sum or a product itself may begin with the others, like an accumulator that starts at a bias.  With M, as
// max(P, N) + sum t but of the others, its additions err as those of a sum with one more term M (gemm_bound.hpp): A + M in place
// of A, sqrt(S^2 + M^2) of S, and the value is v.  What this is more than its own additions is counted too.  Of terms of one sign
// each addition may round to the same side: the worst case counts.  A number, like an epsilon, is added last.
//
// A node belongs to the chain of the addition that alone reads it, and what is counted of it is counted at the chain's end.  What
// is named as a step is computed by itself, but for a sum or product that may be stored before a bias is added.
#include <algorithm>
#include <cmath>

#include "ops/core/gemm_bound.hpp"
#include "reference/formula/track.hpp"

namespace assay::formula {

void Tracked::find_chains() {
  const std::vector<Node>& nodes = values_.graph().nodes;
  reads_.assign(nodes.size(), 0);
  for (const Node& n : nodes)
    for (const int a : n.arguments) ++reads_[static_cast<std::size_t>(a)];
  for (const Port& port : values_.graph().outputs) reads_[static_cast<std::size_t>(port.node)] += 2;
  in_chain_.assign(nodes.size(), false);
  for (int i = 0; i < static_cast<int>(nodes.size()); ++i) {
    if (!adds(i)) continue;
    for (const int a : node(i).arguments)
      if (adds(a) && reads_[static_cast<std::size_t>(a)] == 1) in_chain_[static_cast<std::size_t>(a)] = true;
  }
}

// Whether a node is an addition that rounds.
bool Tracked::adds(int i) const {
  const Node& n = node(i);
  const auto is_zero = [&](int a) { return node(a).kind == Kind::constant && node(a).number == 0; };
  return (n.kind == Kind::add || n.kind == Kind::subtract) && !values_[i].exact && std::ranges::none_of(n.arguments, is_zero);
}

// The sum or product that an argument is but for steps, if nothing else reads it; else -1.
int Tracked::added_up(int a) const {
  while (reads_[static_cast<std::size_t>(a)] == 1 && node(a).kind == Kind::step) a = node(a).arguments[0];
  const Node& n = node(a);
  const bool is_sum = n.kind == Kind::sum || (n.kind == Kind::dot && mean_of(values_.graph(), n).weights < 0);
  return is_sum && !values_[a].exact && reads_[static_cast<std::size_t>(a)] == 1 ? a : -1;
}

void Tracked::collect_terms(int i, double sign, std::vector<Term>& terms) const {
  const Node& n = node(i);
  for (std::size_t k = 0; k < 2; ++k) {
    const int a = n.arguments[k];
    const double own = k == 1 && n.kind == Kind::subtract ? -sign : sign;
    if (in_chain_[static_cast<std::size_t>(a)]) collect_terms(a, own, terms);
    else terms.push_back({a, own, added_up(a)});
  }
}

// The largest sum of some of these terms, their errors included: max(P, N) + sum t.
Field Tracked::largest_sum(const std::vector<Term>& terms) const {
  Field positive, negative, errors;
  for (const Term& term : terms) {
    const auto part = [&](double sign) {
      const auto of_sign = [sign](double v) { return std::isfinite(v) ? std::max(v * sign, 0.0) : 0.0; };
      return map(extents(), of_sign, values_[term.node].value);
    };
    positive = plus(extents(), positive, part(term.sign));
    negative = plus(extents(), negative, part(-term.sign));
    errors = plus(extents(), errors, total(term.node));
  }
  const auto largest = [](double p, double n, double t) { return std::max(p, n) + t; };
  return map(extents(), largest, positive, negative, errors);
}

// The largest power of two of which all these terms are multiples: infinite if they are 0.
Field Tracked::unit_of(const std::vector<Term>& terms) const {
  Field unit = Field::number(kInfinity);
  const auto smaller = [](double found, double x) {
    if (x == 0 || !std::isfinite(x)) return found;
    int exponent = 0;
    const auto digits = static_cast<std::int64_t>(std::ldexp(std::frexp(x, &exponent), 53));
    return std::min(found, std::ldexp(static_cast<double>(digits & -digits), exponent - 53));
  };
  for (const Term& term : terms) unit = map(extents(), smaller, unit, values_[term.node].value);
  return unit;
}

Off Tracked::added_up_in_any_order(int i, Off off) const {
  if (in_chain_[static_cast<std::size_t>(i)]) return off;
  std::vector<Term> terms;
  collect_terms(i, 1, terms);
  const auto add = [&](bool as_any, const Field& more) {
    Field& to = as_any || coherent() ? off.any : off.fresh;
    to = plus(extents(), to, more);
  };
  if (terms.size() > 2) {
    const auto is_repeated = [&](const Term& term) { return (node(i).axes & ~values_[term.node].value.axes) != 0; };
    const double within = static_cast<double>(terms.size() - 2), most = overflow_threshold(declared_.numerics.accumulate);
    const bool err = std::ranges::any_of(terms, [&](const Term& term) { return !total(term.node).none(); });
    const auto rounds = [=, u = u_, low = floor_](double size, double unit) {
      if (!err && u * size <= unit) return 0.0;
      return size < most ? within * (u * size + low) : kInfinity;
    };
    const Field all = map(extents(), node(i).axes, rounds, largest_sum(terms), unit_of(terms));
    const bool is_exact = std::ranges::all_of(all.at, [](double v) { return v == 0; });
    if (!is_exact) add(std::ranges::count_if(terms, is_repeated) > 1, all);
  }
  for (const Term& term : terms) {
    if (term.sum < 0) continue;
    std::vector<Term> others = terms;
    std::erase_if(others, [&](const Term& t) { return t.node == term.node || values_[t.node].value.axes == 0; });
    if (!others.empty()) add(false, begun_with(term.sum, largest_sum(others), values_[i].value));
  }
  if (!off.fresh.none()) off.k = std::min(off.k, kUniform);
  return rounded(i, std::move(off));
}

// What the additions of a sum or product err more if they begin with `rest`, and end with `result`.
Field Tracked::begun_with(int i, const Field& rest, const Field& result) const {
  const Terms& terms = values_[i].terms;
  Numerics numerics = declared_.numerics;
  numerics.factors = {};
  const ProductError error(numerics, declared_.errors, extents().size(node(i).over)),
      worst(numerics, Errors::coherent, extents().size(node(i).over));
  const auto more = [&](double c, double size, double root, double m, double v) {
    if (!std::isfinite(v)) return 0.0;
    const bool is_one_sided = std::fabs(c) == size;
    const double with = is_one_sided ? worst(v, size + m, root) : error(v, size + m, std::hypot(root, m));
    const double own = is_one_sided ? worst(c, size, root) : error(c, size, root);
    return with > own ? with - own : 0.0;
  };
  return map(extents(), more, values_[i].value, terms.size, terms.root, rest, result);
}

}  // namespace assay::formula
