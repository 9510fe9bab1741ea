// SPDX-License-Identifier: Apache-2.0
// Operations on bits: logic, shifts, fields, permutations.
#include <algorithm>
#include <bit>

#include "decode.hpp"

namespace simt::ptx {

namespace {

using u16 = std::uint16_t;
using s16 = std::int16_t;
using u32 = std::uint32_t;
using s32 = std::int32_t;
using u64 = std::uint64_t;
using s64 = std::int64_t;

template <auto F>
Run logic2(Type t) {
  switch (bits_of(t)) {
    case 1:
    case 32: return op2<F, u32, u32, u32>;
    case 16: return op2<F, u16, u16, u16>;
    case 64: return op2<F, u64, u64, u64>;
    default: return nullptr;
  }
}

template <class T>
T shifted_left(T a, u32 n) {
  return n >= 8 * sizeof(T) ? T{0} : static_cast<T>(u64{a} << n);
}
template <class T>
T shifted_right(T a, u32 n) {
  constexpr u32 kBits = 8 * sizeof(T);
  if constexpr (std::is_signed_v<T>) return static_cast<T>(s64{a} >> std::min(n, kBits - 1));
  else return n >= kBits ? T{0} : static_cast<T>(u64{a} >> n);
}
template <class T>
constexpr Run kLeft = op2<[](T a, u32 n) { return shifted_left(a, n); }, T, T, u32>;
template <class T>
constexpr Run kRight = op2<[](T a, u32 n) { return shifted_right(a, n); }, T, T, u32>;

// Bits [start, start + length) of a, as a number; what lies beyond a is its sign, or zero.  Note: of 32 bits a GPU takes the low
// 8 of start and length, of 64 bits all.
template <class T>
T field(T a, u32 start, u32 length) {
  constexpr u32 kBits = 8 * sizeof(T);
  if constexpr (kBits == 32) {
    start &= 255;
    length &= 255;
  }
  if (length == 0) return 0;
  const T low = shifted_right(a, start);
  if (length >= kBits) return low;
  using U = std::make_unsigned_t<T>;
  if constexpr (std::is_signed_v<T>) {
    const auto top = static_cast<u32>(std::min(u64{start} + length - 1, u64{kBits - 1}));  // of the field; its bit is the sign
    const bool sign = static_cast<U>(a) >> top & 1;
    const U mask = (U{1} << length) - 1;
    return static_cast<T>(sign ? static_cast<U>(low) | ~mask : static_cast<U>(low) & mask);
  } else {
    return static_cast<T>(low & ((U{1} << length) - 1));
  }
}

template <class T>
T inserted(T a, T b, u32 start, u32 length) {
  constexpr u32 kBits = 8 * sizeof(T);
  if constexpr (kBits == 32) {
    start &= 255;
    length &= 255;
  }
  if (start >= kBits || length == 0) return b;
  const T ones = length >= kBits ? static_cast<T>(~T{0}) : static_cast<T>((T{1} << length) - 1);
  const T mask = static_cast<T>(ones << start);
  return static_cast<T>((b & ~mask) | ((a << start) & mask));
}
template <class T>
void insert(Warp& w, const Op& o) {
  const auto *a = w.at<Store<T>>(o.a), *b = w.at<Store<T>>(o.b);
  const auto *start = w.at<u32>(o.c), *length = w.at<u32>(w.program->lists[o.list]);
  for_lanes(w, w.at<Store<T>>(o.d), [=](unsigned i) { return inserted<T>(a[i], b[i], start[i], length[i]); });
}

u32 permuted(u32 a, u32 b, u32 selector) {
  const u64 bytes = u64{b} << 32 | a;
  u32 r = 0;
  for (unsigned k = 0; k < 4; ++k) {
    const u32 s = selector >> 4 * k & 15;
    u32 byte = static_cast<u32>(bytes >> 8 * (s & 7)) & 255;
    if (s & 8) byte = byte & 128 ? 255 : 0;
    r |= byte << 8 * k;
  }
  return r;
}

void lop3(Warp& w, const Op& o) {
  const auto *a = w.at<u32>(o.a), *b = w.at<u32>(o.b), *c = w.at<u32>(o.c);
  u32 minterm[8];
  for (unsigned k = 0; k < 8; ++k) minterm[k] = o.how >> k & 1 ? ~0u : 0u;
  for_lanes(w, w.at<u32>(o.d), [=](unsigned i) {
    u32 r = 0;
    for (unsigned k = 0; k < 8; ++k) r |= minterm[k] & (k & 4 ? a[i] : ~a[i]) & (k & 2 ? b[i] : ~b[i]) & (k & 1 ? c[i] : ~c[i]);
    return r;
  });
}

// Sums of four products of bytes.
template <bool SignedA, bool SignedB>
constexpr auto kDot = [](u32 a, u32 b, u32 c) {
  for (unsigned k = 0; k < 32; k += 8) {
    const s32 x = SignedA ? static_cast<std::int8_t>(a >> k) : static_cast<s32>(a >> k & 255);
    const s32 y = SignedB ? static_cast<std::int8_t>(b >> k) : static_cast<s32>(b >> k & 255);
    c += static_cast<u32>(x * y);
  }
  return c;
};

// The place of the highest bit that differs from the sign; all ones if there is none.
template <class T>
u32 highest(T a, bool amount) {
  using U = std::make_unsigned_t<T>;
  U u = static_cast<U>(a);
  if constexpr (std::is_signed_v<T>)
    if (a < 0) u = static_cast<U>(~u);
  if (u == 0) return ~0u;
  const auto at = static_cast<u32>(std::bit_width(u)) - 1;
  return amount ? 8 * sizeof(T) - 1 - at : at;
}

u64 reversed(u64 v) {
  u64 r = 0;
  for (unsigned k = 0; k < 64; ++k) r |= (v >> k & 1) << (63 - k);
  return r;
}

template <bool Left, bool Wrap>
constexpr auto kFunnel = [](u32 low, u32 high, u32 n) {
  n = Wrap ? n & 31 : std::min(n, 32u);
  const u64 both = u64{high} << 32 | low;
  return static_cast<u32>(Left ? both << n >> 32 : both >> n);
};

// `length` ones from bit `start` on.  Those beyond bit 31 are dropped.
template <bool Wrap>
constexpr auto kMask = [](u32 start, u32 length) {
  start = Wrap ? start & 31 : std::min(start, 32u);
  length = Wrap ? length & 31 : std::min(length, 32u);
  return static_cast<u32>(((u64{1} << length) - 1) << start);
};

void decode_logic(Decoder& d) {
  const Type t = d.take_type();
  const bool one = d.base == "not" || d.base == "cnot";
  if (d.base == "and") d.op.run = logic2<[](auto a, auto b) { return a & b; }>(t);
  else if (d.base == "or") d.op.run = logic2<[](auto a, auto b) { return a | b; }>(t);
  else if (d.base == "xor") d.op.run = logic2<[](auto a, auto b) { return a ^ b; }>(t);
  else if (d.base == "not")
    d.op.run = bits_of(t) == 16   ? op1<[](u16 a) { return ~a; }, u16, u16>
               : bits_of(t) == 64 ? op1<[](u64 a) { return ~a; }, u64, u64>
                                  : op1<[](u32 a) { return ~a; }, u32, u32>;
  else
    d.op.run = bits_of(t) == 64   ? op1<[](u64 a) { return u64{a == 0}; }, u64, u64>
               : bits_of(t) == 32 ? op1<[](u32 a) { return u32{a == 0}; }, u32, u32>
                                  : nullptr;
  if (d.op.run == nullptr) d.refuse("is not run for this type");
  d.operands(one ? 2 : 3);
  d.out(&Op::d, 0, t);
  d.in(&Op::a, 1, t);
  if (!one) d.in(&Op::b, 2, t);
  d.emit();
}

void decode_shift(Decoder& d) {
  const Type t = d.take_type();
  d.operands(3);
  const bool left = d.base == "shl";
  switch (bits_of(t)) {
    case 16: d.op.run = left ? kLeft<u16> : is_signed(t) ? kRight<s16> : kRight<u16>; break;
    case 32: d.op.run = left ? kLeft<u32> : is_signed(t) ? kRight<s32> : kRight<u32>; break;
    case 64: d.op.run = left ? kLeft<u64> : is_signed(t) ? kRight<s64> : kRight<u64>; break;
    default: d.refuse("is not run for this type");
  }
  d.out(&Op::d, 0, t);
  d.in(&Op::a, 1, t);
  d.in(&Op::b, 2, Type::u32);
  d.emit();
}

void decode_field(Decoder& d) {
  const Type t = d.take_type();
  const bool wide = bits_of(t) == 64;
  if (bits_of(t) < 32) d.refuse("is not run for this type");
  d.operands(d.base == "bfe" ? 4 : 5);
  d.out(&Op::d, 0, t);
  d.in(&Op::a, 1, t);
  if (d.base == "bfe") {
    d.in(&Op::b, 2, Type::u32);
    d.in(&Op::c, 3, Type::u32);
    if (is_signed(t)) d.op.run = wide ? op3<field<s64>, s64, s64, u32, u32> : op3<field<s32>, s32, s32, u32, u32>;
    else d.op.run = wide ? op3<field<u64>, u64, u64, u32, u32> : op3<field<u32>, u32, u32, u32, u32>;
  } else {
    d.in(&Op::b, 2, t);
    d.in(&Op::c, 3, Type::u32);
    d.in_list(d.operand(4), Type::u32);
    d.op.run = wide ? insert<u64> : insert<u32>;
  }
  d.emit();
}

void decode_count(Decoder& d) {
  const bool amount = d.take("shiftamt");
  const Type t = d.take_type();
  const bool wide = bits_of(t) == 64;
  if (bits_of(t) < 32) d.refuse("is not run for this type");
  d.operands(2);
  if (d.base == "brev")
    d.op.run = wide ? op1<reversed, u64, u64> : op1<[](u32 a) { return static_cast<u32>(reversed(a) >> 32); }, u32, u32>;
  else if (d.base == "popc")
    d.op.run =
        wide ? op1<[](u64 a) { return std::popcount(a); }, u32, u64> : op1<[](u32 a) { return std::popcount(a); }, u32, u32>;
  else if (d.base == "clz")
    d.op.run = wide ? op1<[](u64 a) { return std::countl_zero(a); }, u32, u64>
                    : op1<[](u32 a) { return std::countl_zero(a); }, u32, u32>;
  else if (amount)
    d.op.run = t == Type::s32   ? op1<[](s32 a) { return highest(a, true); }, u32, s32>
               : t == Type::u32 ? op1<[](u32 a) { return highest(a, true); }, u32, u32>
               : t == Type::s64 ? op1<[](s64 a) { return highest(a, true); }, u32, s64>
                                : op1<[](u64 a) { return highest(a, true); }, u32, u64>;
  else
    d.op.run = t == Type::s32   ? op1<[](s32 a) { return highest(a, false); }, u32, s32>
               : t == Type::u32 ? op1<[](u32 a) { return highest(a, false); }, u32, u32>
               : t == Type::s64 ? op1<[](s64 a) { return highest(a, false); }, u32, s64>
                                : op1<[](u64 a) { return highest(a, false); }, u32, u64>;
  d.out(&Op::d, 0, d.base == "brev" ? t : Type::u32);
  d.in(&Op::a, 1, t);
  d.emit();
}

void decode_funnel(Decoder& d) {
  const int way = d.take_one({"l", "r"}), over = d.take_one({"clamp", "wrap"});
  if (d.take_type() != Type::b32 || way < 0 || over < 0) d.refuse("is not run in this form");
  d.operands(4);
  d.op.run = way == 0
                 ? (over == 1 ? op3<kFunnel<true, true>, u32, u32, u32, u32> : op3<kFunnel<true, false>, u32, u32, u32, u32>)
                 : (over == 1 ? op3<kFunnel<false, true>, u32, u32, u32, u32> : op3<kFunnel<false, false>, u32, u32, u32, u32>);
  d.out(&Op::d, 0, Type::b32);
  d.in(&Op::a, 1, Type::b32);
  d.in(&Op::b, 2, Type::b32);
  d.in(&Op::c, 3, Type::u32);
  d.emit();
}

void decode_mask(Decoder& d) {
  const int over = d.take_one({"clamp", "wrap"});
  if (d.take_type() != Type::b32 || over < 0) d.refuse("is not run in this form");
  d.operands(3);
  d.op.run = over == 1 ? op2<kMask<true>, u32, u32, u32> : op2<kMask<false>, u32, u32, u32>;
  d.out(&Op::d, 0, Type::b32);
  d.in(&Op::a, 1, Type::u32);
  d.in(&Op::b, 2, Type::u32);
  d.emit();
}

// lop3, prmt and dp4a: three words give one.
void decode_words(Decoder& d) {
  const Type a = d.take_type();
  const bool dot = d.base == "dp4a";
  const Type b = dot ? d.take_type() : a;
  if (bits_of(a) != 32 || bits_of(b) != 32) d.refuse("is not run for this type");
  d.operands(d.base == "lop3" ? 5 : 4);
  if (d.base == "lop3") {
    const std::int64_t table = d.integer(d.operand(4), "a table of 8 bits");
    if (table < 0 || table > 255) d.refuse("has a table beyond 8 bits");
    d.op.how = static_cast<std::uint8_t>(table);
    d.op.run = lop3;
  } else if (dot) {
    d.op.run = is_signed(a)
                   ? (is_signed(b) ? op3<kDot<true, true>, u32, u32, u32, u32> : op3<kDot<true, false>, u32, u32, u32, u32>)
                   : (is_signed(b) ? op3<kDot<false, true>, u32, u32, u32, u32> : op3<kDot<false, false>, u32, u32, u32, u32>);
  } else {
    d.op.run = op3<permuted, u32, u32, u32, u32>;
  }
  d.out(&Op::d, 0, Type::b32);
  d.in(&Op::a, 1, Type::b32);
  d.in(&Op::b, 2, Type::b32);
  d.in(&Op::c, 3, Type::b32);
  d.emit();
}

}  // namespace

void decode_bits(Decoder& d) {
  const std::string_view b = d.base;
  if (b == "and" || b == "or" || b == "xor" || b == "not" || b == "cnot") return decode_logic(d);
  if (b == "shl" || b == "shr") return decode_shift(d);
  if (b == "shf") return decode_funnel(d);
  if (b == "bfe" || b == "bfi") return decode_field(d);
  if (b == "bmsk") return decode_mask(d);
  if (b == "lop3" || b == "prmt" || b == "dp4a") return decode_words(d);
  decode_count(d);
}

}  // namespace simt::ptx
