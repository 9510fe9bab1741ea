// SPDX-License-Identifier: Apache-2.0
// Arithmetic of f32 and f64.  Note: add, sub and mul without a rounding modifier are contractable: ptxas may fuse a product and a
// sum, this machine does not.
#include <algorithm>

#include "decode.hpp"
#include "numbers.hpp"
#include "special.hpp"

namespace simt::ptx {

namespace {

constexpr auto kAdd = [](auto a, auto b) { return a + b; };
constexpr auto kSubtract = [](auto a, auto b) { return a - b; };
constexpr auto kMultiply = [](auto a, auto b) { return a * b; };
constexpr auto kDivide = [](auto a, auto b) { return a / b; };
constexpr auto kFused = [](auto a, auto b, auto c) {
  if constexpr (sizeof(a) == 4) return __builtin_fmaf(a, b, c);
  else return __builtin_fma(a, b, c);
};
// A NaN gives way to a number, and -0 is less than +0.
constexpr auto kMin = [](auto a, auto b) {
  if (a != a) return b;
  if (b != b) return a;
  return a < b || (a == b && std::signbit(a)) ? a : b;
};
constexpr auto kMax = [](auto a, auto b) {
  if (a != a) return b;
  if (b != b) return a;
  return a > b || (a == b && !std::signbit(a)) ? a : b;
};
constexpr auto kMinNaN = [](auto a, auto b) { return a != a || b != b ? a + b : kMin(a, b); };
constexpr auto kMaxNaN = [](auto a, auto b) { return a != a || b != b ? a + b : kMax(a, b); };

template <bool Ftz, class T>
inline T taken(T v) {
  if constexpr (Ftz && sizeof(T) == 4) return flush(v);
  else return v;
}
template <bool Ftz, bool Sat, class T>
inline T given(T v) {
  if constexpr (Sat) v = saturate(v);
  return canonical(taken<Ftz>(v));
}

// A GPU rounds to 24 bits before it flushes: what is 2^-126 only as a rounded subnormal number is 0.  Vectors know no subnormal
// numbers at 2^64 times the size.
template <bool Ftz, class T, class... More>
inline T product(auto f, T a, T b, More... c) {
  const T v = f(a, b, c...);
  if constexpr (Ftz && sizeof(T) == 4) {
    const bool least = std::fabs(v) == 0x1p-126f, less = std::fabs(f(a * 0x1p64f, b, (c * 0x1p64f)...)) < 0x1p-62f;
    return least & less ? std::copysign(0.0f, v) : v;
  }
  return v;
}

template <auto F, class T, bool Ftz, bool Sat>
constexpr Run kRun2 = op2<[](T a, T b) {
  a = taken<Ftz>(a);
  b = taken<Ftz>(b);
  // Note: compilers differ in whether decltype(F) is const.
  constexpr bool kProduct = std::is_same_v<std::remove_cv_t<decltype(F)>, std::remove_cv_t<decltype(kMultiply)>>;
  return given<Ftz, Sat>(kProduct ? product<Ftz>(F, a, b) : static_cast<T>(F(a, b)));
},
                          T, T, T>;
template <auto F, class T, bool Ftz, bool Sat>
constexpr Run kRun3 =
    op3<[](T a, T b, T c) { return given<Ftz, Sat>(product<Ftz>(F, taken<Ftz>(a), taken<Ftz>(b), taken<Ftz>(c))); }, T, T, T, T>;

// The same while the processor rounds another way.
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
  switch (mode) {
    case 1: return directed<Inner, Round::zero>;
    case 2: return directed<Inner, Round::down>;
    case 3: return directed<Inner, Round::up>;
    default: return Inner;
  }
}
// div.approx and div.full: a product with rcp.approx.  Without .ftz both operands are scaled where b is subnormal; .full scales
// them also where the reciprocal would be.
template <bool Full, bool Ftz>
float quotient(float a, float b) {
  a = taken<Ftz>(a);
  b = taken<Ftz>(b);
  const float size = std::fabs(b);
  const float scale = !Ftz && size < 0x1p-126f ? 0x1p24f : Full && size > 0x1p126f ? 0.25f : 1.0f;
  return given<Ftz, false>(product<Ftz>(kMultiply, taken<Ftz>(a * scale), detail::special_reciprocal(taken<Ftz>(b * scale))));
}
template <bool Full, bool Ftz>
constexpr Run kQuotient = op2<quotient<Full, Ftz>, float, float, float>;

template <auto F>
Run float2(bool wide, bool ftz, bool sat, int mode) {
  if (wide) return rounding<kRun2<F, double, false, false>>(mode);
  if (ftz) return sat ? rounding<kRun2<F, float, true, true>>(mode) : rounding<kRun2<F, float, true, false>>(mode);
  return sat ? rounding<kRun2<F, float, false, true>>(mode) : rounding<kRun2<F, float, false, false>>(mode);
}
template <auto F>
Run float3(bool wide, bool ftz, bool sat, int mode) {
  if (wide) return rounding<kRun3<F, double, false, false>>(mode);
  if (ftz) return sat ? rounding<kRun3<F, float, true, true>>(mode) : rounding<kRun3<F, float, true, false>>(mode);
  return sat ? rounding<kRun3<F, float, false, true>>(mode) : rounding<kRun3<F, float, false, false>>(mode);
}

template <class T, bool Ftz>
constexpr Run kAbsolute = op1<[](T a) { return canonical(std::fabs(taken<Ftz>(a))); }, T, T>;
template <class T, bool Ftz>
constexpr Run kNegate = op1<[](T a) { return canonical(-taken<Ftz>(a)); }, T, T>;
template <class U>
constexpr Run kCopySign = op2<[](U sign, U b) {
  constexpr U kSign = U{1} << (8 * sizeof(U) - 1);
  return (sign & kSign) | (b & ~kSign);
},
                              U, U, U>;

void decode_sign(Decoder& d, Type t) {
  const bool wide = t == Type::f64, ftz = d.take("ftz"), one = d.base != "copysign";
  if (d.base == "abs") d.op.run = wide ? kAbsolute<double, false> : ftz ? kAbsolute<float, true> : kAbsolute<float, false>;
  else if (d.base == "neg") d.op.run = wide ? kNegate<double, false> : ftz ? kNegate<float, true> : kNegate<float, false>;
  else d.op.run = wide ? kCopySign<std::uint64_t> : kCopySign<std::uint32_t>;
  d.operands(one ? 2 : 3);
  d.out(&Op::d, 0, t);
  d.in(&Op::a, 1, t);
  if (!one) d.in(&Op::b, 2, t);
  d.emit();
}

}  // namespace

// add, sub, mul, fma, mad, div, min, max of f32 and f64, and what changes the sign.
void decode_float(Decoder& d) {
  const Type t = d.take_type();
  if (d.base == "abs" || d.base == "neg" || d.base == "copysign") return decode_sign(d, t);
  const bool wide = t == Type::f64, three = d.base == "fma" || d.base == "mad";
  const int mode = d.take_one({"rn", "rz", "rm", "rp"});
  const bool ftz = d.take("ftz"), sat = d.take("sat");
  d.operands(three ? 4 : 3);
  if (three) d.op.run = float3<kFused>(wide, ftz, sat, mode);
  else if (d.base == "add") d.op.run = float2<kAdd>(wide, ftz, sat, mode);
  else if (d.base == "sub") d.op.run = float2<kSubtract>(wide, ftz, sat, mode);
  else if (d.base == "mul") d.op.run = float2<kMultiply>(wide, ftz, sat, mode);
  else if (d.base == "div") {
    const int how = wide ? -1 : d.take_one({"full", "approx"});
    d.op.run = how < 0    ? float2<kDivide>(wide, ftz, sat, mode)
               : how == 0 ? (ftz ? kQuotient<true, true> : kQuotient<true, false>)
                          : (ftz ? kQuotient<false, true> : kQuotient<false, false>);
  } else if (d.base == "min") {
    d.op.run = d.take("NaN") ? float2<kMinNaN>(wide, ftz, sat, mode) : float2<kMin>(wide, ftz, sat, mode);
  } else if (d.base == "max") {
    d.op.run = d.take("NaN") ? float2<kMaxNaN>(wide, ftz, sat, mode) : float2<kMax>(wide, ftz, sat, mode);
  } else {
    d.refuse("is not run for this type");
  }
  d.out(&Op::d, 0, t);
  d.in(&Op::a, 1, t);
  d.in(&Op::b, 2, t);
  if (three) d.in(&Op::c, 3, t);
  d.emit();
}

void decode_arithmetic(Decoder& d) {
  Type t = Type::none;
  for (const std::string_view word : d.words) {
    if (t != Type::none && type_named(word) != Type::none) d.refuse("mixes two types");
    if (const Type named = type_named(word); named != Type::none) t = named;
    if (word == "cc") return decode_carry(d);
  }
  if (t == Type::f32 || t == Type::f64) return decode_float(d);
  if (is_float(t)) return decode_half(d);
  decode_integer(d);
}

}  // namespace simt::ptx
