// SPDX-License-Identifier: Apache-2.0
// cvt: between integers, floats, packed and narrow formats.
#include <algorithm>
#include <cfenv>
#include <cmath>
#include <utility>

#include "decode.hpp"
#include "numbers.hpp"

namespace simt::ptx {

namespace {

using u8 = std::uint8_t;
using s8 = std::int8_t;
using u16 = std::uint16_t;
using s16 = std::int16_t;
using u32 = std::uint32_t;
using s32 = std::int32_t;
using u64 = std::uint64_t;
using s64 = std::int64_t;

// Calls f with a value of the C++ type of an integer type.
template <class F>
Run with_integer(Type t, F f) {
  switch (t) {
    case Type::b8:
    case Type::u8: return f(u8{});
    case Type::s8: return f(s8{});
    case Type::b16:
    case Type::u16: return f(u16{});
    case Type::s16: return f(s16{});
    case Type::b32:
    case Type::u32: return f(u32{});
    case Type::s32: return f(s32{});
    case Type::b64:
    case Type::u64: return f(u64{});
    case Type::s64: return f(s64{});
    default: return nullptr;
  }
}

template <class D, class A, bool Sat>
D integer_from(A a) {
  if constexpr (Sat) {
    using Limits = std::numeric_limits<D>;
    if (std::cmp_less(a, Limits::min())) return Limits::min();
    if (std::cmp_greater(a, Limits::max())) return Limits::max();
  }
  return static_cast<D>(a);
}

// The result lies in a register that may be larger than its type: 8 bytes if `wide`.
template <class D, class A, bool Sat, bool Wide>
void to_integer(Warp& w, const Op& o) {
  const auto* a = w.at<Store<A>>(o.a);
  using Whole = std::conditional_t<Wide, std::conditional_t<std::is_signed_v<D>, s64, u64>, D>;
  for_lanes(w, w.at<Store<Whole>>(o.d),
            [=](unsigned i) { return to_lane<Whole>(static_cast<Whole>(integer_from<D, A, Sat>(from_lane<A>(a[i])))); });
}

double whole_of(double v, int mode) {
  switch (mode) {
    case 1: return std::trunc(v);
    case 2: return std::floor(v);
    case 3: return std::ceil(v);
    default: return std::nearbyint(v);
  }
}

template <class D>
D clamped(double v, bool from_double) {
  using Limits = std::numeric_limits<D>;
  if (v != v) return sizeof(D) == 8 || from_double ? static_cast<D>(u64{1} << (8 * sizeof(D) - 1)) : D{0};
  constexpr double kEnd = sizeof(D) == 8 ? (std::is_signed_v<D> ? 0x1p63 : 0x1p64) : static_cast<double>(Limits::max()) + 1;
  if (v >= kEnd) return Limits::max();
  if (v <= static_cast<double>(Limits::min())) return Limits::min();
  return static_cast<D>(v);
}

double float_at(const Warp& w, Place p, Type t, unsigned i) {
  switch (t) {
    case Type::f64: return w.at<double>(p)[i];
    case Type::f32: return w.at<float>(p)[i];
    case Type::f16: return value(F16{static_cast<u16>(w.at<u32>(p)[i])});
    default: return value(BF16{static_cast<u16>(w.at<u32>(p)[i])});
  }
}

template <class D>
void integer_of_float(Warp& w, const Op& o) {
  const Type from = static_cast<Type>(o.n);
  const bool flushes = o.how & 8, wide = o.how & 16;
  for (unsigned i = 0; i < kLanes; ++i) {
    if ((w.mask >> i & 1) == 0) continue;
    double v = float_at(w, o.a, from, i);
    if (flushes) v = flush(static_cast<float>(v));
    const D r = clamped<D>(whole_of(v, o.how & 3), from == Type::f64);
    if (sizeof(D) == 8 || !wide) w.at<Store<D>>(o.d)[i] = to_lane<D>(r);
    else w.at<u64>(o.d)[i] = static_cast<u64>(static_cast<s64>(r));
  }
}

// The NaN of f64 keeps its sign and its leading bits.
u32 nan_of_double(double v, Type to) {
  const unsigned fraction = to == Type::f32 ? 23 : to == Type::f16 ? 10 : 7, bits = to == Type::f32 ? 32 : 16;
  const auto u = std::bit_cast<u64>(v);
  const u32 field = (1u << (bits - 1)) - (1u << (fraction - 1));  // the exponent, and the quiet bit
  return static_cast<u32>(u >> 63) << (bits - 1) | field | static_cast<u32>((u & 0xfffffffffffff) >> (52 - fraction));
}

// An integer or a float as a float of another type.  how: 0 to 3 the rounding, 4 whole, 8 .ftz, 16 .sat, 32 .relu, 64 .satfinite.
void store_float(Warp& w, const Op& o, Type to, unsigned i, double v) {
  const auto round = static_cast<Round>(o.how & 3);
  if (o.how & 4) v = whole_of(v, o.how & 3);
  if (o.how & 16) v = saturate(v);
  if ((o.how & 32) && !(v > 0) && v == v) v = 0;
  switch (to) {
    case Type::f64: w.at<double>(o.d)[i] = v; return;
    case Type::f32: {
      if (round != Round::nearest)
        std::fesetround(round == Round::zero ? FE_TOWARDZERO : round == Round::down ? FE_DOWNWARD : FE_UPWARD);
      volatile float f = static_cast<float>(v);
      if (round != Round::nearest) std::fesetround(FE_TONEAREST);
      w.at<float>(o.d)[i] = canonical(o.how & 8 ? flush(f) : f);
      return;
    }
    default: w.at<u32>(o.d)[i] = narrow(v, to == Type::f16 ? kF16 : kBF16, round, o.how & 64); return;
  }
}

// Note: of a 16-bit result .ftz flushes no argument.
void float_of_float(Warp& w, const Op& o) {
  const Type to = static_cast<Type>(o.n & 31), from = static_cast<Type>(o.value);
  for (unsigned i = 0; i < kLanes; ++i) {
    if ((w.mask >> i & 1) == 0) continue;
    double v = float_at(w, o.a, from, i);
    if ((o.how & 8) && from == Type::f32 && bits_of(to) > 16) v = flush(static_cast<float>(v));
    if (v != v && from == Type::f64 && to != Type::f64 && (o.how & 16) == 0) w.at<u32>(o.d)[i] = nan_of_double(v, to);
    else store_float(w, o, to, i, v);
  }
}
// Note: a 64-bit integer has no exact double, so a float of it is rounded from the integer itself, and for a 16-bit one its low
// bits are gathered in one.
double gathered(u64 v) { return static_cast<double>(v >> 53 == 0 ? v : (v & ~u64{0x7ff}) | u64{(v & 0x7ff) != 0} << 11); }
template <class A>
void float_of_integer(Warp& w, const Op& o) {
  const Type to = static_cast<Type>(o.n);
  constexpr int kModes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};
  for (unsigned i = 0; i < kLanes; ++i) {
    if ((w.mask >> i & 1) == 0) continue;
    const volatile A a = from_lane<A>(w.at<Store<A>>(o.a)[i]);
    if (sizeof(A) < 8 || (to != Type::f32 && to != Type::f64)) {
      const bool minus = std::cmp_less(a, 0);
      const double size = gathered(minus ? u64{0} - static_cast<u64>(a) : static_cast<u64>(a));
      store_float(w, o, to, i, minus ? -size : size);
      continue;
    }
    std::fesetround(kModes[o.how & 3]);
    if (to == Type::f64) w.at<double>(o.d)[i] = static_cast<double>(a);
    else w.at<float>(o.d)[i] = static_cast<float>(a);
    std::fesetround(FE_TONEAREST);
  }
}

// The usual conversions, without a switch for each lane.
template <class H>
constexpr Run kWiden = op1<[](u16 a) { return std::is_same_v<H, F16> ? canonical(value(H{a})) : value(H{a}); }, float, u16>;
template <class H>
constexpr Run kNarrow = op1<[](float a) { return rounded<H>(a).bits; }, u16, float>;
template <class H>
constexpr Run kNarrowPair = op2<[](float high, float low) {
  return static_cast<u32>(rounded<H>(low).bits) | static_cast<u32>(rounded<H>(high).bits) << 16;
},
                                u32, float, float>;
constexpr Run kSaturate = op1<[](float a) { return saturate(a); }, float, float>;
constexpr Run kTruncate = op1<[](float a) { return canonical(std::trunc(a)); }, float, float>;
template <class A, class D>
constexpr Run kFloatOf = op1<[](A a) { return static_cast<D>(a); }, D, A>;

// Note: a NaN becomes 0x7fffe000, but of .rna it keeps its bits, and .satfinite takes one unit from it as from infinity.
template <bool Away, bool Relu, bool Finite>
constexpr Run kToTF32 = op1<[](u32 a) {
  const auto endless = [](u32 v) { return (v & 0x7f800000u) == 0x7f800000u; };  // infinity or NaN
  if (!Away && endless(a) && (a & 0x7fffffu) != 0) return 0x7fffe000u;
  if (Relu && (a >> 31) != 0) return 0u;
  const u32 cut = (a + (endless(a) ? 0 : Away ? 0x1000u : 0xfffu + (a >> 13 & 1))) & ~0x1fffu;
  return Finite && endless(cut) ? cut - 0x2000u : cut;
},
                            u32, u32>;

Run quick(Type to, Type from, std::uint8_t how) {
  if (how == 0 && to == Type::f32 && from == Type::f16) return kWiden<F16>;
  if (how == 0 && to == Type::f32 && from == Type::bf16) return kWiden<BF16>;
  if (how == 0 && to == Type::f16 && from == Type::f32) return kNarrow<F16>;
  if (how == 0 && to == Type::bf16 && from == Type::f32) return kNarrow<BF16>;
  if (how == 0 && to == Type::f32 && from == Type::s32) return kFloatOf<s32, float>;
  if (how == 0 && to == Type::f64 && from == Type::s32) return kFloatOf<s32, double>;
  if (how == 0 && to == Type::f64 && from == Type::f32) return kFloatOf<float, double>;
  if (how == 0 && to == Type::f32 && from == Type::f32) return op1<[](u32 a) { return a; }, u32, u32>;
  if (how == 16 && to == Type::f32 && from == Type::f32) return kSaturate;
  if (how == 5 && to == Type::f32 && from == Type::f32) return kTruncate;
  return nullptr;
}

// cvt.rn.f16x2.f32 d, high, low and its like.
template <const Narrow& To, unsigned Bits>
void pair_of_floats(Warp& w, const Op& o) {
  const auto *high = w.at<float>(o.a), *low = w.at<float>(o.b);
  const bool relu = o.how & 32, finite = o.how & 64;
  for_lanes(w, w.at<u32>(o.d), [=, round = static_cast<Round>(o.how & 3)](unsigned i) {
    const auto one = [&](float v) {
      return narrow(relu && !(v > 0) && v == v ? 0.0 : static_cast<double>(v), To, round, finite);
    };
    return one(low[i]) | one(high[i]) << Bits;
  });
}
template <const Narrow& From>
void halves_of_bytes(Warp& w, const Op& o) {
  const auto* a = w.at<u32>(o.a);
  const bool relu = o.how & 32;
  for_lanes(w, w.at<u32>(o.d), [=](unsigned i) {
    const auto one = [&](u32 byte) {
      const double v = widen(byte, From);
      return narrow(relu && !(v > 0) && v == v ? 0.0 : v, kF16, Round::nearest);
    };
    return one(a[i] & 255) | one(a[i] >> 8 & 255) << 16;
  });
}
template <const Narrow& To>
void bytes_of_halves(Warp& w, const Op& o) {
  const auto* a = w.at<u32>(o.a);
  const bool relu = o.how & 32;
  for_lanes(w, w.at<u32>(o.d), [=](unsigned i) {
    const auto one = [&](u32 bits) {
      const double v = widen(bits & 0xffff, kF16);
      return narrow(relu && !(v > 0) && v == v ? 0.0 : v, To, Round::nearest, true);
    };
    return one(a[i]) | one(a[i] >> 16) << 8;
  });
}

void decode_pair(Decoder& d, Type to, std::uint8_t how) {
  d.operands(3);
  const bool half = to == Type::f16x2;
  if (how == 0) d.op.run = half ? kNarrowPair<F16> : kNarrowPair<BF16>;
  else d.op.run = half ? pair_of_floats<kF16, 16> : pair_of_floats<kBF16, 16>;
  d.out(&Op::d, 0, to);
  d.in(&Op::a, 1, Type::f32);
  d.in(&Op::b, 2, Type::f32);
  d.emit();
}

void decode_bytes(Decoder& d, std::uint8_t how) {
  const bool into = d.words.size() == 2 && (d.words[0] == "e4m3x2" || d.words[0] == "e5m2x2");
  const bool e4m3 = d.take("e4m3x2");
  if (!e4m3) d.take("e5m2x2");
  const Type other = d.take_type();
  d.op.how = how;
  if (into && other == Type::f32) {
    d.operands(3);
    d.op.run = e4m3 ? pair_of_floats<kE4M3, 8> : pair_of_floats<kE5M2, 8>;
    d.out(&Op::d, 0, Type::b16);
    d.in(&Op::a, 1, Type::f32);
    d.in(&Op::b, 2, Type::f32);
  } else {
    d.operands(2);
    if (other != Type::f16x2) d.refuse("is not run for this type");
    if (into) d.op.run = e4m3 ? bytes_of_halves<kE4M3> : bytes_of_halves<kE5M2>;
    else d.op.run = e4m3 ? halves_of_bytes<kE4M3> : halves_of_bytes<kE5M2>;
    d.out(&Op::d, 0, into ? Type::b16 : Type::b32);
    d.in(&Op::a, 1, into ? Type::b32 : Type::b16);
  }
  d.emit();
}

void decode_integers(Decoder& d, Type to, Type from, bool sat) {
  const bool wide = bits_of(to) < 64 && d.operand(0).kind == Operand::Kind::reg && d.bits_of_register(d.operand(0)) == 64;
  d.op.run = with_integer(to, [&]<class D>(D) {
    return with_integer(from, [&]<class A>(A) -> Run {
      if (wide) return sat ? to_integer<D, A, true, true> : to_integer<D, A, false, true>;
      return sat ? to_integer<D, A, true, false> : to_integer<D, A, false, false>;
    });
  });
}

}  // namespace

void decode_convert(Decoder& d) {
  const int whole = d.take_one({"rni", "rzi", "rmi", "rpi"});
  const int round = d.take_one({"rn", "rz", "rm", "rp"});
  const bool ftz = d.take("ftz"), sat = d.take("sat"), relu = d.take("relu"), finite = d.take("satfinite");
  const auto how =
      static_cast<std::uint8_t>((whole > 0   ? whole
                                 : round > 0 ? round
                                             : 0) |
                                (whole >= 0 ? 4 : 0) | (ftz ? 8 : 0) | (sat ? 16 : 0) | (relu ? 32 : 0) | (finite ? 64 : 0));
  for (const std::string_view word : d.words)
    if (word == "e4m3x2" || word == "e5m2x2") return decode_bytes(d, how);
  if (d.take("tf32")) {
    const bool away = d.take("rna");
    if (d.take_type() != Type::f32 || round > 0) d.refuse("is not run in this form");
    d.operands(2);
    if (away) d.op.run = finite ? kToTF32<true, false, true> : kToTF32<true, false, false>;
    else d.op.run = relu ? kToTF32<false, true, false> : kToTF32<false, false, false>;
    d.out(&Op::d, 0, Type::b32);
    d.in(&Op::a, 1, Type::f32);
    return d.emit();
  }
  const Type to = d.take_type();
  const Type from = d.take_type();
  if (to == Type::f16x2 || to == Type::bf16x2)
    return from == Type::f32 ? decode_pair(d, to, d.op.how = how) : d.refuse("is not run for this type");
  d.operands(2);
  d.op.how = how;
  if (is_integer(to) && is_integer(from)) {
    decode_integers(d, to, from, sat);
  } else if (is_integer(to)) {
    d.op.how = static_cast<std::uint8_t>((how & 7) | (ftz ? 8 : 0));
    if (d.operand(0).kind == Operand::Kind::reg && d.bits_of_register(d.operand(0)) == 64) d.op.how |= 16;
    d.op.n = static_cast<std::uint8_t>(from);
    d.op.run = with_integer(to, [&]<class D>(D) -> Run { return integer_of_float<D>; });
  } else {
    d.op.run = quick(to, from, how);
    d.op.n = static_cast<std::uint8_t>(to);
    d.op.value = static_cast<std::int64_t>(from);
    if (d.op.run == nullptr && is_integer(from))
      d.op.run = with_integer(from, [&]<class A>(A) -> Run { return float_of_integer<A>; });
    else if (d.op.run == nullptr) d.op.run = float_of_float;
  }
  d.out(&Op::d, 0, to, is_integer(to));
  d.in(&Op::a, 1, from, is_integer(from));
  d.emit();
}

}  // namespace simt::ptx
