// SPDX-License-Identifier: Apache-2.0
// Rules of arithmetic and functions (track.hpp).  u: unit roundoff of the accumulator, t: the whole error of an argument.
//
//   a + b, a - b    errors add up.  Adding 0 is exact.  More than two terms: track_chains.cpp.
//   a b             |a| t_b + |b| t_a + t_a t_b.  A power of two rounds only what it makes subnormal.
//   x^2             2 |x| t + t^2
//   a / b           a times 1/b, which is off by t_b / (|b| (|b| - t_b)), infinite where b may be 0, and by the quotient's own
//                   Q u / |b| (Numerics::quotient_error).  A power of two rounds only what it makes subnormal.
//   cos, sin        of an angle that is off by e = A u |angle| before its reduction and R u after it (Numerics::angle_error,
//                   reduced_angle_error), and by what the position brings: |cos(t + e) - cos t| <= min(|sin t| e + e^2/2, e, 2);
//                   then the function's own error, relative to the value.
//   rounded         between what the smallest and the largest that the argument allows are rounded to.
//   f(x)            |f'| and |f''| times t and t^2/2, or the largest |f'| times t; then f's own error.  exp, log, tanh, erf,
//                   sigmoid, softplus: below.  silu, gelu: activation.hpp.
//   1/sqrt(x)       1/sqrt(x - s) - 1/sqrt(x) or 1/sqrt(x) - 1/sqrt(x + t), as it falls; s <= t: by how much x may be too small,
//                   which of a variance is little (track_norms.cpp).  Then (R + Q) u of it (Numerics::root_error).
// Each result is rounded: u (|v| + t) + half the least subnormal (track_roundings.cpp).
#include "reference/formula/track.hpp"

#include "reference/formula/elements.hpp"

#include <algorithm>

#include "ops/core/activation.hpp"
#include "ops/core/stored.hpp"

namespace assay::formula {
namespace {

// A change of base in units of u: a product is rounded, and log2(e) or log(2), which is off by no more than 0.47 and 0.65 units
// in f32, f16 and bf16.
constexpr double kToBase2 = 1.5, kFromBase2 = 1.7;

// |x| times the error t of its factor y, which may be infinite even if x is 0.  An infinite product stays so, unless y may be 0.
constexpr auto scaled = [](double x, double y, double t) {
  if (std::isfinite(x)) return t < kInfinity ? std::fabs(x) * t : kInfinity;
  return t == 0 || t < std::fabs(y) ? 0.0 : kInfinity;
};

}  // namespace

const Field Tracked::kNone;

Tracked::Tracked(const Values& values, const Declared& declared, std::vector<Off> given)
    : values_(values),
      declared_(declared),
      u_(unit_roundoff(declared.numerics.accumulate)),
      floor_(rounding_floor(declared.numerics.accumulate)),
      // Note: function_error counts the rounding to f32, not that to a narrower accumulator.
      function_(declared.numerics.function_error * 0x1p-24 + (u_ > unit_roundoff(f32) ? u_ : 0)),
      given_(std::move(given)) {
  const int count = static_cast<int>(values.graph().nodes.size());
  totals_.resize(static_cast<std::size_t>(count));
  find_chains();
  for (int i = 0; i < count; ++i) {
    off_.push_back(values[i].exact ? Off{} : visit(i));
    if (!values[i].exact) note_overflow(i);
  }
}

// In a step of a scan, where errors may grow, what may overflow counts; elsewhere what does.  There terms of both signs may
// overflow before they cancel, too: in one order of a sum, and not in another.
void Tracked::note_overflow(int i) {
  const Kind kind = node(i).kind;
  const double most = overflow_threshold(declared_.numerics.accumulate);
  const bool is_step = !given_.empty();
  const auto leaves = [=](double v, double t) {
    return std::isfinite(v) && t < kInfinity && std::fabs(v) + (is_step ? t : 0.0) >= most ? kInfinity : 0.0;
  };
  constexpr double cancelling = 1 + 0x1p-40;  // sizes over values beyond what f64 rounds
  const auto may_leave = [most](double v, double t, double size) {
    const bool cancels = size > std::fabs(v) * cancelling;
    return std::isfinite(v) && t < kInfinity && size + t >= most && cancels ? kInfinity : 0.0;
  };
  const Field on_the_way = is_step && (kind == Kind::sum || kind == Kind::dot)
                               ? map(extents(), may_leave, values_[i].value, total(i), values_[i].terms.size)
                               : Field{};
  const Field left = plus(extents(), map(extents(), leaves, values_[i].value, total(i)), on_the_way);
  if (std::ranges::all_of(left.at, [](double infinite) { return infinite == 0; })) return;
  put_out_[i] = plus(extents(), total(i), on_the_way);
  Off& off = off_[static_cast<std::size_t>(i)];
  off.any = plus(extents(), off.any, left);
  totals_[static_cast<std::size_t>(i)].reset();
}

const Field& Tracked::total_put_out(int i) const {
  const Node& n = node(i);
  if (n.kind == Kind::step && !stores(n)) return total_put_out(n.arguments[0]);
  if (const auto at = put_out_.find(i); at != put_out_.end()) return at->second;
  if (n.kind != Kind::result) return total(i);
  const auto scan = put_out_of_scans_.find(n.arguments[0]);
  return scan == put_out_of_scans_.end() ? total(i) : scan->second[static_cast<std::size_t>(n.number)];
}

std::optional<DType> Tracked::stored_as(std::string_view step) const {
  return assay::stored_as(declared_.numerics, step, declared_.storage);
}

std::optional<DType> Tracked::stores(const Node& step) const {
  const std::optional<DType> to = stored_as(step.name);
  for (const Node* of = &node(step.arguments[0]); to && of->kind == Kind::step; of = &node(of->arguments[0]))
    if (stored_as(of->name) == to) return {};
  return to;
}

// A kernel that computes the second argument gives the first, but for its errors and the last bits of f64.  Where no word says
// which one it computes, the larger of both errors counts.
Off Tracked::either(int i) const {
  const Node& n = node(i);
  const bool may_be_first = n.name.empty();
  if (!may_be_first && !lists(declared_.numerics.ways, n.name)) return alone(n.arguments[0]);
  Off off = alone(n.arguments[1]);
  off.any = map(
      extents(),
      [](double error, double v, double other) {
        if (!std::isfinite(v)) return error;
        return std::isfinite(other) ? error + std::fabs(v - other) : kInfinity;
      },
      off.any, values_[n.arguments[0]].value, values_[n.arguments[1]].value);
  if (!may_be_first) return off;
  const auto larger = [](double first, double any, double fresh) { return std::max(first, any + fresh); };
  return {.any = map(extents(), larger, total(n.arguments[0]), off.any, off.fresh), .fresh = {}};
}

const Field& Tracked::total(int i) const {
  std::optional<Field>& sum = totals_[static_cast<std::size_t>(i)];
  if (!sum) {
    const Off& off = off_[static_cast<std::size_t>(i)];
    sum = plus(extents(), off.any, off.fresh);
    if (!values_[i].shared.empty()) sum = plus(extents(), *sum, shared(i));
  }
  return *sum;
}

std::vector<double> Tracked::output(std::size_t number) const {
  const Port& port = values_.graph().outputs[number];
  return values_.in_order_of(port, total_put_out(port.node));
}

const Field& Tracked::of(Symbol symbol) const { return symbol.reciprocal ? reciprocals_.at(symbol.node) : total(symbol.node); }

const Field& Tracked::infinite_in(int i) const {
  constexpr auto is_infinite = [](double t) { return std::isinf(t); };
  if (std::ranges::none_of(total(i).at, is_infinite)) return kNone;
  return infinite_[i] = map(
             extents(), [=](double t) { return is_infinite(t) ? t : 0.0; }, total(i));
}

Field Tracked::shared(int i) const {
  Field sum;
  for (const auto& [symbol, c] : values_[i].shared)
    sum = map(
        extents(), [](double s, double coefficient, double error) { return s + by(std::fabs(coefficient), error); }, sum, c,
        of(symbol));
  return sum;
}

Tracked::Brought Tracked::brought(int argument, AxisSet axes) const {
  const Known& x = values_[argument];
  if (x.exact) return {};
  const Off& off = off_[static_cast<std::size_t>(argument)];
  if (x.value.axes == 0) return {.any = &total(argument), .total = &total(argument)};
  // Repeated: a shared error of its own, but for what is infinite, as 0 times that may be NaN.
  if (axes & ~x.value.axes) return {.any = &infinite_in(argument), .total = &total(argument)};
  return {&off.any, &off.fresh, &total(argument), off.k};
}

Off Tracked::alone(int argument) const {
  Off off = off_[static_cast<std::size_t>(argument)];
  if (!values_[argument].shared.empty()) off.any = plus(extents(), off.any, shared(argument));
  return off;
}

Off Tracked::visit(int i) {
  const Node& n = node(i);
  switch (info(n.kind).group) {
    case Group::leaf: {  // exact ones are not visited
      if (n.kind == Kind::given) return given_[static_cast<std::size_t>(n.number)];
      const double rounded = round_to(declared_.numerics.accumulate, n.number);
      return {.any = Field::number(rounded == n.number ? 0.0 : u_ * std::fabs(n.number)), .fresh = {}};
    }
    case Group::arithmetic: return visit_arithmetic(i);
    case Group::gather: return take(i);
    case Group::function: return apply_function(i);
    case Group::reduction:
      if (n.kind == Kind::sum) return with_either_zero(i, add_up(i));
      if (n.kind == Kind::dot) return mean_of(values_.graph(), n).weights >= 0 ? mean_up(i) : multiply_up(i);
      if (n.kind == Kind::max) return choose(i);
      return along_rows(i);
    case Group::row_function: return weighs_means_alone(i) ? Off{} : along_rows(i);
    case Group::recurrence:
      if (n.kind == Kind::result) return results_.at(n.arguments[0])[static_cast<std::size_t>(n.number)];
      results_[i] = scanned(i);
      return {};
  }
  return {};
}

// A sum of -0 alone is 0 in kernels that start at 0, and -0 in those that start at a term.  (Of products the allowance for
// underflow covers both.)
Off Tracked::with_either_zero(int i, Off off) const {
  const Field either = values_.only_negative_zeros(node(i));
  if (!either.none())
    off.any = plus(extents(), off.any,
                   map(
                       extents(), [](double e) { return e * kEitherZero; }, either));
  return off;
}

Off Tracked::visit_arithmetic(int i) {
  const Node& n = node(i);
  const auto is_number = [&](int argument, double v) {
    return node(argument).kind == Kind::constant && node(argument).number == v;
  };
  switch (n.kind) {
    case Kind::step: {
      const Brought x = brought(n.arguments[0], n.axes);
      Off off{*x.any, *x.fresh, x.k};
      const std::optional<DType> to = stores(n);
      return to ? stored(i, std::move(off), *to) : off;
    }
    case Kind::rounded_to:
    case Kind::round:
    case Kind::floor:
    case Kind::ceil:
    case Kind::pow2_floor:
    case Kind::pow2_ceil: {
      // It never falls, so what a kernel has lies between its values at both ends of what the argument may be.
      const bool of_powers = n.kind == Kind::pow2_floor || n.kind == Kind::pow2_ceil;
      const auto off = [&n, of_powers](double x, double y, double t) {
        const double least = of_powers ? std::max(x - t, 0.0) : x - t;
        return std::isfinite(y) ? std::max(on_staircase(n, x + t) - y, y - on_staircase(n, least)) : 0.0;
      };
      return {.any = map(extents(), off, values_[n.arguments[0]].value, values_[i].value, total(n.arguments[0])), .fresh = {}};
    }
    case Kind::negate: {
      const Brought x = brought(n.arguments[0], n.axes);
      return {*x.any, *x.fresh, x.k};
    }
    case Kind::absolute: return alone(n.arguments[0]);
    case Kind::maximum:
    case Kind::minimum: return choose(i);
    case Kind::quotient:
    case Kind::less:
    case Kind::at_most: return decide(i);
    case Kind::where: return pick_one(i);
    case Kind::either: return either(i);
    case Kind::divide: return is_running_moment(i) ? running_moment(i) : divide(i);
    case Kind::square: {
      const Brought x = brought(n.arguments[0], n.axes);
      const Field& v = values_[n.arguments[0]].value;
      if (x.total->none()) return rounded(i, {});
      const auto twice = [&](const Field& f) {
        return f.none() ? f
                        : map(
                              extents(), [](double a, double e) { return 2 * scaled(a, a, e); }, v, f);
      };
      return rounded(i, {map(
                             extents(), [](double e, double t) { return e + t * t; }, twice(*x.any), *x.total),
                         twice(*x.fresh), x.k});
    }
    default: break;
  }
  const Brought a = brought(n.arguments[0], n.axes), b = brought(n.arguments[1], n.axes);
  const double k = std::min(a.k, b.k);
  const auto sum = [&](const Field& x, const Field& y) { return y.none() ? x : x.none() ? y : plus(extents(), x, y); };
  if (n.kind != Kind::multiply) {
    Off off{sum(*a.any, *b.any), sum(*a.fresh, *b.fresh), k};
    if (declared_.numerics.folded_affine) off.any = sum(off.any, folding(i));
    return is_number(n.arguments[0], 0) || is_number(n.arguments[1], 0) ? off : added_up_in_any_order(i, std::move(off));
  }
  const Field &p = values_[n.arguments[0]].value, &q = values_[n.arguments[1]].value;
  const auto times = [&](const Field& v, const Field& factor, const Field& e) {
    return e.none() ? e : map(extents(), scaled, v, factor, e);
  };
  Field any = sum(times(p, q, *b.any), times(q, p, *a.any));
  if (!a.total->none() && !b.total->none())
    any = map(
        extents(), [](double e, double x, double y) { return e + by(x, y); }, any, *a.total, *b.total);
  Off off{std::move(any), sum(times(p, q, *b.fresh), times(q, p, *a.fresh)), k};
  for (const int argument : n.arguments)
    if (node(argument).kind == Kind::constant && is_power_of_two_or_zero(node(argument).number))
      return std::fabs(node(argument).number) < 1 ? scaled_down(i, std::move(off)) : off;
  return rounded(i, std::move(off));
}

Off Tracked::divide(int i) {
  const Node& n = node(i);
  const int divisor = n.arguments[1];
  const Brought a = brought(n.arguments[0], n.axes);
  const Field &p = values_[n.arguments[0]].value, &q = values_[divisor].value;
  const auto over = [&](const Field& e) {
    return e.none() ? Field{}
                    : map(
                          extents(), [](double error, double v) { return by(error, 1 / std::fabs(v)); }, e, q);
  };
  if (node(divisor).kind == Kind::constant && is_power_of_two_or_zero(node(divisor).number)) {
    Off off{over(*a.any), over(*a.fresh), a.k};
    return 1 < std::fabs(node(divisor).number) ? scaled_down(i, std::move(off)) : off;
  }
  const double own = declared_.numerics.quotient_error * 0x1p-24;
  Field inverse = map(
      extents(),
      [own](double v, double t) {
        const double size = std::fabs(v);
        return (t == 0 ? 0.0 : size > t ? t / (size * (size - t)) : kInfinity) + own / size;
      },
      q, total(divisor));
  // |p| times the error of 1/q, unless it is followed as a shared error.  0 divided by what may be 0 may be NaN.
  const bool followed = values_[i].shared.contains({divisor, true});
  Field any = over(*a.any);
  any = map(
      extents(),
      [followed](double e, double v, double o) { return e + (followed && o < kInfinity ? 0.0 : scaled(v, kInfinity, o)); }, any,
      p, inverse);
  if (!a.total->none())
    any = map(
        extents(), [](double e, double t, double o) { return e + by(t, o); }, any, *a.total, inverse);
  reciprocals_[divisor] = std::move(inverse);
  return rounded(i, {std::move(any), over(*a.fresh), a.k});
}

Off Tracked::apply_function(int i) const {
  const Node& n = node(i);
  const Off x = alone(n.arguments[0]);
  const Field& t_of_x = total(n.arguments[0]);
  const Field &z = values_[n.arguments[0]].value, &v = values_[i].value;
  const Numerics& numerics = declared_.numerics;
  const double u = u_, low = floor_, f = function_ / u_, q = numerics.quotient_error;
  // An exp that is subnormal errs by its relative error of the least normal value, or vanishes (flushes_subnormals).
  const double lost = (numerics.flushes_subnormals ? 1 / u : numerics.function_error) * low;

  // The whole error of f(z) for |z~ - z| <= t, and |f'(z)|, by which a fresh error moves it.  Where that is more than the whole,
  // the whole is `any`.
  const auto whole = [&](auto error, auto slope, const auto&... more) {
    // An argument that is infinite is so in every kernel.
    const auto known = [&](double a, double t, double y, auto... rest) {
      if (std::isinf(a)) return error(a, 0.0, y, rest...);
      return t < kInfinity ? error(a, t, y, rest...) : kInfinity;
    };
    Field all = map(extents(), known, z, t_of_x, v, more...);
    if (x.fresh.none()) return Off{std::move(all), {}, x.k};
    const Field fresh = map(
        extents(),
        [&](double a, double e, double most) {
          const double own = by(std::fabs(slope(a)), e);
          return own < most ? own : 0.0;
        },
        z, x.fresh, all);
    return Off{map(
                   extents(), [](double a, double b) { return std::max(a - b, 0.0); }, all, fresh),
               fresh, x.k};
  };
  // Moved by the argument: with |f''| at most `bend` within t, or |f'| at most `steepest`.
  const auto moved = [](double slope, double bend, double steepest, double t) {
    return t == 0 ? 0.0 : std::min(steepest * t, std::fabs(slope) * t + bend / 2 * t * t);
  };
  const auto activate = [&](Activation form) {
    return whole([&, form](double a, double t, double) { return activation_error(numerics, form, a, t); },
                 [form](double a) { return activation_slope(form, a); });
  };
  switch (n.kind) {
    case Kind::silu: return activate(Activation::silu);
    case Kind::gelu_tanh: return activate(Activation::gelu_tanh);
    case Kind::gelu_erf: return activate(Activation::gelu_erf);
    // |f''| grows to e^t times its value; exp2 of x log2(e) takes an argument off by kToBase2 u |x|.  Of x - y by one FMA,
    // x c - fl(y c) with c = log2(e), the roundings of c and of y c are 0.5u |x| + 1.5u |y|, of which 1.5u |x - y| are counted.
    case Kind::exp: {
      const Node& argument = node(n.arguments[0]);
      const bool fused = numerics.fused_exponent && argument.kind == Kind::subtract;
      return whole(
          [=](double a, double brought, double y, double subtracted) {
            const double t = brought + (fused ? 2 * u * finite_size(subtracted) : 0.0);
            const double off = moved(y, y * std::exp(std::min(t, kMostExponent)), kInfinity, t);
            return off + u * (y + off) * (f + (y > 0 ? kToBase2 * (std::fabs(a) + t) : 0.0)) + lost + low;
          },
          [](double a) { return std::exp(a); }, fused ? values_[argument.arguments[1]].value : Field{});
    }
    case Kind::log:  // |f''| is 1/(z - t)^2 at most; a change of base costs kFromBase2 u.  No logarithm of a number is subnormal
      return whole(
          [=](double a, double t, double y) {
            const double off = t == 0 ? 0.0 : t < a ? moved(1 / a, 1 / ((a - t) * (a - t)), kInfinity, t) : kInfinity;
            return off + u * (finite_size(y) + off) * (f + kFromBase2);
          },
          [](double a) { return 1 / a; });
    case Kind::cos_turn:
    case Kind::sin_turn: {
      const Numerics& declared = declared_.numerics;
      const double far = declared.angle_error * u, near = declared.reduced_angle_error * u;
      const double f_low = declared.function_error * low;
      if (!total(n.arguments[1]).none() || !total(n.arguments[2]).none()) return {.any = Field::number(kInfinity), .fresh = {}};
      const Field frequency = map(
          extents(),
          [base = n.number](double above, double below) { return base == 0 ? above / below : std::pow(base, above / below); },
          values_[n.arguments[1]].value, values_[n.arguments[2]].value);
      return {.any = map(
                  extents(),
                  [=](double position, double of_position, double t, double y) {
                    if (position == 0 && t == 0) return 0.0;
                    if (std::isinf(t)) return kInfinity;
                    const double angle = (far * (std::fabs(position) + t) + t) * std::fabs(of_position) + near;
                    const double off = std::min(moved(std::sqrt(std::max(1 - y * y, 0.0)), 1, 1, angle), 2.0);
                    return off + u * f * (std::fabs(y) + off) + f_low;
                  },
                  z, frequency, t_of_x, v),
              .fresh = {}};
    }
    case Kind::tanh:  // |f''| <= 4/(3 sqrt 3) = 0.7699
      return whole(
          [=](double, double t, double y) {
            const double off = moved(1 - y * y, 0.77, 1, t);
            return off + u * (std::fabs(y) + off) * f + lost + low;
          },
          [](double a) { return 1 - std::tanh(a) * std::tanh(a); });
    case Kind::erf: {  // |f''| <= 2 sqrt(2/(pi e)) = 0.9679, |f'| <= 2/sqrt(pi) = 1.1284
      const auto slope = [](double a) { return 2 * std::numbers::inv_sqrtpi * std::exp(-a * a); };
      return whole(
          [=](double a, double t, double y) {
            const double off = moved(slope(a), 0.97, 1.13, t);
            return off + u * (std::fabs(y) + off) * f + lost + low;
          },
          slope);
    }
    // |f''| <= 1/(6 sqrt 3) = 0.0962.  1/(1 + e), e = exp(-z): the error of e counts by 1 - f, the sum rounds, and the quotient
    // errs by Q u.  A change of z to e^t times its f at most.  Where the result is subnormal the sum is 1, or exp is the result.
    // Where exp(-z) overflows the result is 0.
    case Kind::sigmoid: {
      const auto slope = [](double a) { return assay::detail::sigmoid(a) * assay::detail::sigmoid(-a); };
      return whole(
          [=, exponent = numerics.exponent_error, to = numerics.accumulate](double a, double t, double y) {
            const double off = std::min(moved(slope(a), 0.1, 0.25, t), y * std::expm1(std::min(t, kMostExponent)));
            const double rest = assay::detail::sigmoid(t - a), of_exp = f + by(exponent, std::fabs(a) + t);
            const double vanished = assay::detail::overflows_below(a - t, u * of_exp, to) ? y + off : 0;
            return std::max(vanished, off + u * (y + off) * (1 + q + rest * of_exp)) + lost + low;
          },
          slope);
    }
    // |f''| <= 1/4.  max(z, 0) + log1p(e), e = exp(-|z|): e is off by f, and by kToBase2 u |z| where exp2 takes z log2(e), and
    // its logarithm by no larger a share; the logarithm by f, and by kFromBase2 u for a change of base; the sum rounds.  Where e
    // is subnormal it is the result.
    case Kind::softplus:
      return whole(
          [=](double a, double t, double y) {
            const double off = moved(assay::detail::sigmoid(a), 0.25, 1, t);
            return off + u * by(y + off, 2 * f + kFromBase2 + 1 + kToBase2 * (std::fabs(a) + t)) + lost + low;
          },
          [](double a) { return assay::detail::sigmoid(a); });
    case Kind::sqrt:
      return whole([=, r = numerics.root_error](
                       double a, double t, double y) { return y - std::sqrt(std::max(a - t, 0.0)) + r * u * std::sqrt(a + t); },
                   [](double a) { return 0.5 / std::sqrt(a); });
    default:  // rsqrt
      return whole(
          [=, r = numerics.root_error](double a, double t, double y, double below) {
            if (std::isinf(a)) return 0.0;
            const double largest_root = 1 / std::sqrt(std::max(a - below, 0.0));
            const double off = std::max(largest_root - y, y - 1 / std::sqrt(a + t));
            return (std::isfinite(y) ? off : 0.0) + (r + q) * u * largest_root;
          },
          [](double a) { return 0.5 / (a * std::sqrt(a)); }, too_small(n.arguments[0]));
  }
}

}  // namespace assay::formula
