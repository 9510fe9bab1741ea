// SPDX-License-Identifier: Apache-2.0
// Functions of one argument: rcp, sqrt, rsqrt, ex2, lg2, sin, cos, tanh.  With a rounding modifier they are rounded once.  The
// .approx forms are those of the special function unit; sin, cos and tanh are modelled as the C library's (docs/ptx.md).
#include <cmath>

#include "decode.hpp"
#include "numbers.hpp"
#include "special.hpp"

namespace simt::ptx {

namespace {

constexpr auto kReciprocal = [](auto v) { return decltype(v)(1) / v; };
constexpr auto kRoot = [](auto v) { return std::sqrt(v); };
constexpr auto kSine = [](float v) { return std::sin(v); };
constexpr auto kCosine = [](float v) { return std::cos(v); };
constexpr auto kTangent = [](float v) { return std::tanh(v); };

template <auto F, bool Ftz>
constexpr Run kSingle =
    op1<[](float v) { return canonical(Ftz ? flush(static_cast<float>(F(flush(v)))) : static_cast<float>(F(v))); }, float, float>;
// Without .ftz a subnormal argument, and one whose result may be subnormal, is scaled.
bool subnormal(float v) { return std::fabs(v) < 0x1p-126f; }
constexpr auto kFullReciprocal = [](float v) {
  if (subnormal(v)) return detail::special_reciprocal(v * 0x1p24f) * 0x1p24f;
  if (std::fabs(v) >= 0x1p126f && std::fabs(v) < HUGE_VALF) return detail::special_reciprocal(v * 0.25f) * 0.25f;
  return detail::special_reciprocal(v);
};
constexpr auto kFullReciprocalRoot = [](float v) {
  return subnormal(v) ? detail::special_reciprocal_root(v * 0x1p24f) * 0x1p12f : detail::special_reciprocal_root(v);
};
constexpr auto kFullRoot = [](float v) {
  return subnormal(v) ? detail::special_root(v * 0x1p24f) * 0x1p-12f : detail::special_root(v);
};
constexpr auto kFullPower = [](float v) {
  const float half = detail::special_power(v < -126 ? v * 0.5f : v);
  return v < -126 ? half * half : half;
};
constexpr auto kFullLogarithm = [](float v) {
  return subnormal(v) ? detail::special_logarithm(v * 0x1p24f) - 24 : detail::special_logarithm(v);
};
template <auto F>
constexpr Run kSpecial = op1<[](float v) { return F(v); }, float, float>;

Run special(std::string_view base, bool ftz) {
  using namespace detail;
  if (base == "rcp") return ftz ? kSpecial<special_reciprocal> : kSpecial<kFullReciprocal>;
  if (base == "rsqrt") return ftz ? kSpecial<special_reciprocal_root> : kSpecial<kFullReciprocalRoot>;
  if (base == "sqrt") return ftz ? kSpecial<special_root> : kSpecial<kFullRoot>;
  if (base == "ex2") return ftz ? kSpecial<special_power> : kSpecial<kFullPower>;
  return base == "lg2" ? (ftz ? kSpecial<special_logarithm> : kSpecial<kFullLogarithm>) : nullptr;
}

template <auto F>
constexpr Run kDouble = op1<[](double v) { return F(v); }, double, double>;

template <auto F>
Run single(bool ftz) {
  return ftz ? kSingle<F, true> : kSingle<F, false>;
}

template <Run Inner>
[[gnu::noinline]] void apart(Warp& w, const Op& o) {
  Inner(w, o);
}
template <Run Inner, Round Mode>
void directed(Warp& w, const Op& o) {
  const Rounding rounds(Mode);
  apart<Inner>(w, o);
}
template <Run Inner>
Run rounding(int mode) {
  return mode == 1   ? directed<Inner, Round::zero>
         : mode == 2 ? directed<Inner, Round::down>
         : mode == 3 ? directed<Inner, Round::up>
                     : Inner;
}

}  // namespace

void decode_approximate(Decoder& d) {
  const Type t = d.take_type();
  const bool approx = d.take("approx"), ftz = d.take("ftz");
  const int mode = d.take_one({"rn", "rz", "rm", "rp"});
  if (t != Type::f32 && !(t == Type::f64 && !approx)) d.refuse("is not run for this type");
  if (t == Type::f64) {
    if (d.base == "rcp") d.op.run = rounding<kDouble<kReciprocal>>(mode);
    else if (d.base == "sqrt") d.op.run = rounding<kDouble<kRoot>>(mode);
  } else if (approx && special(d.base, ftz) != nullptr) {
    d.op.run = special(d.base, ftz);
  } else if (d.base == "rcp") {
    d.op.run = ftz ? rounding<kSingle<kReciprocal, true>>(mode) : rounding<kSingle<kReciprocal, false>>(mode);
  } else if (d.base == "sqrt") {
    d.op.run = ftz ? rounding<kSingle<kRoot, true>>(mode) : rounding<kSingle<kRoot, false>>(mode);
  } else if (approx) {
    d.op.run = d.base == "sin" ? single<kSine>(ftz) : d.base == "cos" ? single<kCosine>(ftz) : single<kTangent>(ftz);
  }
  if (d.op.run == nullptr) d.refuse("is not run in this form");
  d.operands(2);
  d.out(&Op::d, 0, t), d.in(&Op::a, 1, t);
  d.emit();
}

}  // namespace simt::ptx
