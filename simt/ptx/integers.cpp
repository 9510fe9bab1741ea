// SPDX-License-Identifier: Apache-2.0
// Integer arithmetic and operations on bits.
#include <algorithm>

#include "decode.hpp"

namespace simt::ptx {

namespace {

using u8 = std::uint8_t;
using u16 = std::uint16_t;
using s16 = std::int16_t;
using u32 = std::uint32_t;
using s32 = std::int32_t;
using u64 = std::uint64_t;
using s64 = std::int64_t;
__extension__ typedef __int128 s128;
__extension__ typedef unsigned __int128 u128;

// F on values of a type's size, by bits alone; and on values of the type.
template <auto F>
Run bits2(Type t) {
  switch (bits_of(t)) {
    case 16: return op2<F, u16, u16, u16>;
    case 32: return op2<F, u32, u32, u32>;
    case 64: return op2<F, u64, u64, u64>;
    default: return nullptr;
  }
}
template <auto F>
Run bits1(Type t) {
  switch (bits_of(t)) {
    case 16: return op1<F, u16, u16>;
    case 32: return op1<F, u32, u32>;
    case 64: return op1<F, u64, u64>;
    default: return nullptr;
  }
}
template <auto F>
Run typed2(Type t) {
  switch (t) {
    case Type::s16: return op2<F, s16, s16, s16>;
    case Type::s32: return op2<F, s32, s32, s32>;
    case Type::s64: return op2<F, s64, s64, s64>;
    default: return bits2<F>(t);
  }
}
template <class T>
using Unsigned = std::make_unsigned_t<T>;
template <class T>
using Wide = std::conditional_t<sizeof(T) == 2, std::conditional_t<std::is_signed_v<T>, s32, u32>,
                                std::conditional_t<sizeof(T) == 4, std::conditional_t<std::is_signed_v<T>, s64, u64>,
                                                   std::conditional_t<std::is_signed_v<T>, s128, u128>>>;

constexpr auto kAdd = [](auto a, auto b) { return a + b; };
constexpr auto kSubtract = [](auto a, auto b) { return a - b; };
constexpr auto kMultiply = [](auto a, auto b) { return u64{a} * u64{b}; };
constexpr auto kHigh = [](auto a, auto b) {
  using T = decltype(a);
  return static_cast<T>(static_cast<Wide<T>>(a) * static_cast<Wide<T>>(b) >> 8 * sizeof(T));
};
// Note: a GPU gives all ones for a division by zero, and for its remainder.
constexpr auto kDivide = [](auto a, auto b) {
  using T = decltype(a);
  if (b == 0) return static_cast<T>(~T{0});
  if constexpr (std::is_signed_v<T>)
    if (b == T(-1)) return static_cast<T>(Unsigned<T>{0} - static_cast<Unsigned<T>>(a));
  return static_cast<T>(a / b);
};
constexpr auto kRemainder = [](auto a, auto b) {
  using T = decltype(a);
  if (b == 0) return static_cast<T>(~T{0});
  if constexpr (std::is_signed_v<T>)
    if (b == T(-1)) return T{0};
  return static_cast<T>(a % b);
};
constexpr auto kMin = [](auto a, auto b) { return a < b ? a : b; };
constexpr auto kMax = [](auto a, auto b) { return a < b ? b : a; };
constexpr auto kNegate = [](auto a) { return decltype(a)(0) - a; };
constexpr auto kAbsolute = [](auto a) {
  using S = std::make_signed_t<decltype(a)>;
  return static_cast<S>(a) < 0 ? decltype(a)(0) - a : a;
};
template <bool Minus>
constexpr auto kSaturated = [](s32 a, s32 b) {
  const s64 v = Minus ? s64{a} - b : s64{a} + b;
  return static_cast<s32>(std::clamp<s64>(v, INT32_MIN, INT32_MAX));
};

template <class T>
void wide_multiply(Warp& w, const Op& o) {
  op2<[](T a, T b) { return static_cast<Wide<T>>(a) * static_cast<Wide<T>>(b); }, Wide<T>, T, T>(w, o);
}
template <class T>
void wide_multiply_add(Warp& w, const Op& o) {
  op3<[](T a, T b, Wide<T> c) {
    using U = Unsigned<Wide<T>>;
    return static_cast<U>(static_cast<Wide<T>>(a) * static_cast<Wide<T>>(b)) + static_cast<U>(c);
  },
      Wide<T>, T, T, Wide<T>>(w, o);
}
template <class T>
void low_multiply_add(Warp& w, const Op& o) {
  op3<[](T a, T b, T c) { return u64{a} * u64{b} + u64{c}; }, T, T, T, T>(w, o);
}
template <class T>
void high_multiply_add(Warp& w, const Op& o) {
  op3<[](T a, T b, T c) { return static_cast<Unsigned<T>>(kHigh(a, b)) + static_cast<Unsigned<T>>(c); }, T, T, T, T>(w, o);
}

Type widened(Type t) {
  switch (t) {
    case Type::u16: return Type::u32;
    case Type::s16: return Type::s32;
    case Type::u32: return Type::u64;
    case Type::s32: return Type::s64;
    default: return Type::none;
  }
}

void decode_product(Decoder& d, Type t) {
  const bool adds = d.base == "mad";
  d.operands(adds ? 4 : 3);
  const int part = d.take_one({"lo", "hi", "wide"});
  if (part < 0) d.refuse("names no part of the product");
  const Type result = part == 2 ? widened(t) : t;
  if (part == 0)
    d.op.run = adds ? (bits_of(t) == 16   ? low_multiply_add<u16>
                       : bits_of(t) == 32 ? low_multiply_add<u32>
                                          : low_multiply_add<u64>)
                    : bits2<kMultiply>(t);
  else if (part == 1 && !adds) d.op.run = typed2<kHigh>(t);
  else if (part == 1)
    d.op.run = t == Type::u32   ? high_multiply_add<u32>
               : t == Type::s32 ? high_multiply_add<s32>
               : t == Type::u64 ? high_multiply_add<u64>
               : t == Type::s64 ? high_multiply_add<s64>
                                : nullptr;
  else switch (t) {
      case Type::u16: d.op.run = adds ? wide_multiply_add<u16> : wide_multiply<u16>; break;
      case Type::s16: d.op.run = adds ? wide_multiply_add<s16> : wide_multiply<s16>; break;
      case Type::u32: d.op.run = adds ? wide_multiply_add<u32> : wide_multiply<u32>; break;
      case Type::s32: d.op.run = adds ? wide_multiply_add<s32> : wide_multiply<s32>; break;
      default: break;
    }
  if (d.op.run == nullptr) d.refuse("is not run for this type");
  d.out(&Op::d, 0, result);
  d.in(&Op::a, 1, t);
  d.in(&Op::b, 2, t);
  if (adds) d.in(&Op::c, 3, result);
  d.emit();
}

}  // namespace

void decode_integer(Decoder& d) {
  const Type t = d.take_type();
  if (d.base == "mul" || d.base == "mad") return decode_product(d, t);
  const bool one = d.base == "neg" || d.base == "abs";
  if (d.base == "neg") d.op.run = bits1<kNegate>(t);
  else if (d.base == "abs") d.op.run = bits1<kAbsolute>(t);
  else if (d.base == "div") d.op.run = typed2<kDivide>(t);
  else if (d.base == "rem") d.op.run = typed2<kRemainder>(t);
  else if (d.base == "min") d.op.run = typed2<kMin>(t);
  else if (d.base == "max") d.op.run = typed2<kMax>(t);
  else if (d.base == "add") d.op.run = t == Type::s32 && d.take("sat") ? op2<kSaturated<false>, s32, s32, s32> : bits2<kAdd>(t);
  else if (d.base == "sub")
    d.op.run = t == Type::s32 && d.take("sat") ? op2<kSaturated<true>, s32, s32, s32> : bits2<kSubtract>(t);
  if (d.op.run == nullptr || !is_integer(t)) d.refuse("is not run for this type");
  d.operands(one ? 2 : 3);
  d.out(&Op::d, 0, t);
  d.in(&Op::a, 1, t);
  if (!one) d.in(&Op::b, 2, t);
  d.emit();
}

namespace {

// The carry of a lane is a register of the warp: 0 or 1.
template <class T, bool Minus, bool Takes, bool Gives>
void with_carry(Warp& w, const Op& o) {
  const auto *a = w.at<Store<T>>(o.a), *b = w.at<Store<T>>(o.b);
  auto* d = w.at<Store<T>>(o.d);
  auto* carry = w.at<u32>(kCarry);
  for (unsigned i = 0; i < kLanes; ++i) {
    if ((w.mask >> i & 1) == 0) continue;
    const u128 extra = Takes ? carry[i] : 0;
    const u128 v = Minus ? u128{a[i]} - b[i] - extra : u128{a[i]} + b[i] + extra;
    d[i] = static_cast<Store<T>>(v);
    if (Gives) carry[i] = static_cast<u32>(v >> 8 * sizeof(T)) & 1;
  }
}
template <class T, bool High, bool Takes, bool Gives>
void product_with_carry(Warp& w, const Op& o) {
  const auto *a = w.at<Store<T>>(o.a), *b = w.at<Store<T>>(o.b), *c = w.at<Store<T>>(o.c);
  auto* d = w.at<Store<T>>(o.d);
  auto* carry = w.at<u32>(kCarry);
  for (unsigned i = 0; i < kLanes; ++i) {
    if ((w.mask >> i & 1) == 0) continue;
    const T x = static_cast<T>(a[i]), y = static_cast<T>(b[i]);
    const auto p = High ? static_cast<Unsigned<T>>(kHigh(x, y)) : static_cast<Unsigned<T>>(u64(x) * u64(y));
    const u128 v = u128{p} + static_cast<Unsigned<T>>(c[i]) + (Takes ? carry[i] : 0);
    d[i] = static_cast<Store<T>>(v);
    if (Gives) carry[i] = static_cast<u32>(v >> 8 * sizeof(T)) & 1;
  }
}
template <template <class, bool, bool, bool> class Maker, class T, bool Kind>
Run of_carry(bool takes, bool gives) {
  if (takes) return gives ? Maker<T, Kind, true, true>::run : Maker<T, Kind, true, false>::run;
  return Maker<T, Kind, false, true>::run;
}
template <class T, bool Minus, bool Takes, bool Gives>
struct Sum {
  static constexpr Run run = with_carry<T, Minus, Takes, Gives>;
};
template <class T, bool High, bool Takes, bool Gives>
struct Product {
  static constexpr Run run = product_with_carry<T, High, Takes, Gives>;
};

}  // namespace

void decode_carry(Decoder& d) {
  const bool gives = d.take("cc"), takes = d.base.back() == 'c';
  const Type t = d.take_type();
  const unsigned bits = bits_of(t);
  const bool product = d.base.starts_with("mad"), minus = d.base.starts_with("sub");
  if (!is_integer(t) || bits < 32) d.refuse("is not run for this type");
  if (product) {
    const bool high = d.take("hi");
    if (!high && !d.take("lo")) d.refuse("names no part of the product");
    if (is_signed(t))
      d.op.run = bits == 32 ? (high ? of_carry<Product, s32, true>(takes, gives) : of_carry<Product, u32, false>(takes, gives))
                            : (high ? of_carry<Product, s64, true>(takes, gives) : of_carry<Product, u64, false>(takes, gives));
    else
      d.op.run = bits == 32 ? (high ? of_carry<Product, u32, true>(takes, gives) : of_carry<Product, u32, false>(takes, gives))
                            : (high ? of_carry<Product, u64, true>(takes, gives) : of_carry<Product, u64, false>(takes, gives));
  } else {
    d.op.run = bits == 32 ? (minus ? of_carry<Sum, u32, true>(takes, gives) : of_carry<Sum, u32, false>(takes, gives))
                          : (minus ? of_carry<Sum, u64, true>(takes, gives) : of_carry<Sum, u64, false>(takes, gives));
  }
  d.operands(product ? 4 : 3);
  d.out(&Op::d, 0, t);
  d.in(&Op::a, 1, t);
  d.in(&Op::b, 2, t);
  if (product) d.in(&Op::c, 3, t);
  d.emit();
}

}  // namespace simt::ptx
