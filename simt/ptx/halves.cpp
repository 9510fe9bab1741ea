// SPDX-License-Identifier: Apache-2.0
// Arithmetic of f16 and bf16, alone and packed in pairs.  Each result is rounded once: the float sum or product of two 16-bit
// values, rounded again to 16 bits, is that of the exact value (24 >= 2 * 11 + 2 bits).
#include "decode.hpp"
#include "numbers.hpp"

namespace simt::ptx {

namespace {

template <class H>
constexpr auto kAdd = [](H a, H b) { return rounded<H>(value(a) + value(b)); };
template <class H>
constexpr auto kSubtract = [](H a, H b) { return rounded<H>(value(a) - value(b)); };
template <class H>
constexpr auto kMultiply = [](H a, H b) { return rounded<H>(value(a) * value(b)); };
template <class H, bool Least>
constexpr auto kExtreme = [](H a, H b) {
  const float x = value(a), y = value(b);
  if (x != x && y != y) return H{0x7fff};
  if (x != x) return b;
  if (y != y) return a;
  const bool less = x < y || (x == y && std::signbit(x));
  return less == Least ? a : b;
};
template <class H, bool Least>
constexpr auto kExtremeNaN =
    [](H a, H b) { return value(a) != value(a) || value(b) != value(b) ? H{0x7fff} : kExtreme<H, Least>(a, b); };

template <class H>
H finished(H v, std::uint8_t how) {
  const float f = value(v);
  if ((how & 1) != 0 && !(f > 0) && f == f) v = {0};
  if ((how & 2) != 0) v = rounded<H>(saturate(f));
  return v;
}

template <class H>
H half_of(std::uint32_t word, unsigned k) {
  return {static_cast<std::uint16_t>(word >> 16 * k)};
}

template <class H, auto F, unsigned Count>
void half2(Warp& w, const Op& o) {
  const auto *a = w.at<std::uint32_t>(o.a), *b = w.at<std::uint32_t>(o.b);
  for_lanes(w, w.at<std::uint32_t>(o.d), [=, how = o.how](unsigned i) {
    std::uint32_t r = 0;
    for (unsigned k = 0; k < Count; ++k)
      r |= static_cast<std::uint32_t>(finished(F(half_of<H>(a[i], k), half_of<H>(b[i], k)), how).bits) << 16 * k;
    return r;
  });
}
template <class H, unsigned Count>
void half_fma(Warp& w, const Op& o) {
  const auto *a = w.at<std::uint32_t>(o.a), *b = w.at<std::uint32_t>(o.b), *c = w.at<std::uint32_t>(o.c);
  for_lanes(w, w.at<std::uint32_t>(o.d), [=, how = o.how](unsigned i) {
    std::uint32_t r = 0;
    for (unsigned k = 0; k < Count; ++k)
      r |= static_cast<std::uint32_t>(finished(fused(half_of<H>(a[i], k), half_of<H>(b[i], k), half_of<H>(c[i], k)), how).bits)
           << 16 * k;
    return r;
  });
}

template <class H, bool Negates, unsigned Count>
void half_sign(Warp& w, const Op& o) {
  constexpr std::uint32_t kInfinity = std::is_same_v<H, F16> ? kF16.infinity : kBF16.infinity;
  const auto* a = w.at<std::uint32_t>(o.a);
  for_lanes(w, w.at<std::uint32_t>(o.d), [=](unsigned i) {
    std::uint32_t r = 0;
    for (unsigned k = 0; k < Count; ++k) {
      const std::uint32_t v = a[i] >> 16 * k & 0xffffu, size = v & 0x7fffu;
      r |= (size > kInfinity ? 0x7fffu : Negates ? v ^ 0x8000u : size) << 16 * k;
    }
    return r;
  });
}

template <class H, unsigned Count>
Run run_of(std::string_view base, bool nan) {
  if (base == "add") return half2<H, kAdd<H>, Count>;
  if (base == "sub") return half2<H, kSubtract<H>, Count>;
  if (base == "mul") return half2<H, kMultiply<H>, Count>;
  if (base == "min") return nan ? half2<H, kExtremeNaN<H, true>, Count> : half2<H, kExtreme<H, true>, Count>;
  if (base == "max") return nan ? half2<H, kExtremeNaN<H, false>, Count> : half2<H, kExtreme<H, false>, Count>;
  if (base == "fma") return half_fma<H, Count>;
  return nullptr;
}

void decode_half_sign(Decoder& d, Type t) {
  const bool negates = d.base == "neg";
  switch (t) {
    case Type::f16: d.op.run = negates ? half_sign<F16, true, 1> : half_sign<F16, false, 1>; break;
    case Type::f16x2: d.op.run = negates ? half_sign<F16, true, 2> : half_sign<F16, false, 2>; break;
    case Type::bf16: d.op.run = negates ? half_sign<BF16, true, 1> : half_sign<BF16, false, 1>; break;
    default: d.op.run = negates ? half_sign<BF16, true, 2> : half_sign<BF16, false, 2>; break;
  }
  d.operands(2);
  d.out(&Op::d, 0, t);
  d.in(&Op::a, 1, t);
  d.emit();
}

}  // namespace

// Note: .ftz of f16 flushes 16-bit subnormals, which no compiler asks for here; it is refused.
void decode_half(Decoder& d) {
  const Type t = d.take_type();
  if (d.base == "abs" || d.base == "neg") return decode_half_sign(d, t);
  d.take("rn");
  const bool nan = d.take("NaN"), three = d.base == "fma";
  d.op.how = static_cast<std::uint8_t>((d.take("relu") ? 1 : 0) | (d.take("sat") ? 2 : 0));
  switch (t) {
    case Type::f16: d.op.run = run_of<F16, 1>(d.base, nan); break;
    case Type::f16x2: d.op.run = run_of<F16, 2>(d.base, nan); break;
    case Type::bf16: d.op.run = run_of<BF16, 1>(d.base, nan); break;
    default: d.op.run = run_of<BF16, 2>(d.base, nan); break;
  }
  if (d.op.run == nullptr) d.refuse("is not run for this type");
  d.operands(three ? 4 : 3);
  d.out(&Op::d, 0, t);
  d.in(&Op::a, 1, t);
  d.in(&Op::b, 2, t);
  if (three) d.in(&Op::c, 3, t);
  d.emit();
}

}  // namespace simt::ptx
