// SPDX-License-Identifier: Apache-2.0
// Functions of one argument: rcp, sqrt, rsqrt, ex2, lg2, sin, cos, tanh.  With a rounding modifier they are rounded once; the
// .approx forms are modelled as the correctly rounded result (docs/ptx.md).
#include <cmath>

#include "decode.hpp"
#include "numbers.hpp"

namespace simt::ptx {

namespace {

constexpr auto kReciprocal = [](auto v) { return decltype(v)(1) / v; };
constexpr auto kRoot = [](auto v) { return std::sqrt(v); };
constexpr auto kReciprocalRoot = [](auto v) { return static_cast<decltype(v)>(1 / std::sqrt(static_cast<double>(v))); };
constexpr auto kPower = [](float v) { return std::exp2(v); };
constexpr auto kLogarithm = [](float v) { return std::log2(v); };
constexpr auto kSine = [](float v) { return std::sin(v); };
constexpr auto kCosine = [](float v) { return std::cos(v); };
constexpr auto kTangent = [](float v) { return std::tanh(v); };

template <auto F, bool Ftz>
constexpr Run kSingle =
    op1<[](float v) { return canonical(Ftz ? flush(static_cast<float>(F(flush(v)))) : static_cast<float>(F(v))); }, float, float>;
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
  } else if (d.base == "rcp") {
    d.op.run = ftz ? rounding<kSingle<kReciprocal, true>>(mode) : rounding<kSingle<kReciprocal, false>>(mode);
  } else if (d.base == "sqrt") {
    d.op.run = ftz ? rounding<kSingle<kRoot, true>>(mode) : rounding<kSingle<kRoot, false>>(mode);
  } else if (approx) {
    d.op.run = d.base == "rsqrt" ? single<kReciprocalRoot>(ftz)
               : d.base == "ex2" ? single<kPower>(ftz)
               : d.base == "lg2" ? single<kLogarithm>(ftz)
               : d.base == "sin" ? single<kSine>(ftz)
               : d.base == "cos" ? single<kCosine>(ftz)
                                 : single<kTangent>(ftz);
  }
  if (d.op.run == nullptr) d.refuse("is not run in this form");
  d.operands(2);
  d.out(&Op::d, 0, t), d.in(&Op::a, 1, t);
  d.emit();
}

}  // namespace simt::ptx
