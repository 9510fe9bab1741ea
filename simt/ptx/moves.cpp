// SPDX-License-Identifier: Apache-2.0
// mov with packing, comparisons, selections, and the conversion of addresses between spaces.
#include <array>
#include <utility>

#include "decode.hpp"
#include "numbers.hpp"

namespace simt::ptx {

namespace {

using u16 = std::uint16_t;
using s16 = std::int16_t;
using u32 = std::uint32_t;
using s32 = std::int32_t;
using u64 = std::uint64_t;
using s64 = std::int64_t;

template <class T>
constexpr Run kCopy = op1<[](T a) { return a; }, T, T>;

// mov.b64 d, {a, b, ...}: the first is the lowest.  Note: in a loop over the parts of a lane g++ 12 with
// -fsanitize=undefined reads the first part each time.
template <class D, unsigned Count>
void pack(Warp& w, const Op& o) {
  constexpr unsigned kBits = 8 * sizeof(D) / Count;
  using S = Store<std::conditional_t<kBits == 32, u32, u16>>;
  [&]<unsigned... K>(std::integer_sequence<unsigned, K...>) {
    const std::array<const S*, Count> part{w.at<S>(w.program->lists[o.list + K])...};
    for_lanes(w, w.at<Store<D>>(o.d), [=](unsigned i) {
      return (... | (static_cast<Store<D>>(part[K][i] & (kBits == 32 ? ~0u : (1u << kBits) - 1)) << kBits * K));
    });
  }
  (std::make_integer_sequence<unsigned, Count>());
}
template <class A, unsigned Count>
void unpack(Warp& w, const Op& o) {
  constexpr unsigned kBits = 8 * sizeof(A) / Count;
  const auto* a = w.at<Store<A>>(o.a);
  for (unsigned k = 0; k < Count; ++k) {
    const Place p = w.program->lists[o.list + k];
    if (p != kNone)
      for_lanes(w, w.at<u32>(p),
                [=](unsigned i) { return static_cast<u32>(a[i] >> kBits * k) & (kBits == 32 ? ~0u : (1u << kBits) - 1); });
  }
}

void decode_packed(Decoder& d, Type t, bool packs) {
  const Operand& v = d.operand(packs ? 1 : 0);
  const unsigned bits = bits_of(t), count = v.count;
  const unsigned part = count == 0 ? 0 : bits / count;
  if (packs)
    d.op.run = bits == 64 && count == 2   ? pack<u64, 2>
               : bits == 64 && count == 4 ? pack<u64, 4>
               : bits == 32 && count == 2 ? pack<u32, 2>
               : bits == 32 && count == 4 ? pack<u32, 4>
               : bits == 16 && count == 2 ? pack<u16, 2>
                                          : nullptr;
  else
    d.op.run = bits == 64 && count == 2   ? unpack<u64, 2>
               : bits == 64 && count == 4 ? unpack<u64, 4>
               : bits == 32 && count == 2 ? unpack<u32, 2>
               : bits == 32 && count == 4 ? unpack<u32, 4>
               : bits == 16 && count == 2 ? unpack<u16, 2>
                                          : nullptr;
  if (d.op.run == nullptr) d.refuse("packs parts that the machine does not run");
  const Type of_part = part == 32 ? Type::b32 : part == 16 ? Type::b16 : Type::b8;
  if (packs) d.out(&Op::d, 0, t);
  else d.in(&Op::a, 1, t);
  for (unsigned k = 0; k < count; ++k)
    if (packs) d.in_list(d.part(v, k), of_part, part == 8);
    else d.out_list(d.part(v, k), of_part, part == 8);
  d.emit();
}

}  // namespace

void decode_move(Decoder& d) {
  const Type t = d.take_type();
  d.operands(2);
  if (d.operand(0).kind == Operand::Kind::vector || d.operand(1).kind == Operand::Kind::vector)
    return decode_packed(d, t, d.operand(1).kind == Operand::Kind::vector);
  d.op.run = bits_of(t) == 64 ? kCopy<u64> : kCopy<u32>;
  const std::string_view from = d.operand(1).kind == Operand::Kind::special ? std::string_view(d.m.names[d.operand(1).id]) : "";
  if (from.starts_with("%clock") || from.starts_with("%globaltimer")) d.refuse("reads a clock, which this machine has not");
  // Note: an address that is moved for its shared, local or parameter variable is an offset in its space.
  d.out(&Op::d, 0, t);
  d.in(&Op::a, 1, t);
  d.emit();
}

namespace {

enum class Compare : std::uint8_t { eq, ne, lt, le, gt, ge, equ, neu, ltu, leu, gtu, geu, num, nan };

template <Compare C, class T>
inline bool compared(T a, T b) {
  const bool unordered = a != a || b != b;
  switch (C) {
    case Compare::eq: return a == b;
    case Compare::ne: return a != b && !unordered;
    case Compare::lt: return a < b;
    case Compare::le: return a <= b;
    case Compare::gt: return a > b;
    case Compare::ge: return a >= b;
    case Compare::equ: return a == b || unordered;
    case Compare::neu: return a != b;
    case Compare::ltu: return !(a >= b);
    case Compare::leu: return !(a > b);
    case Compare::gtu: return !(a <= b);
    case Compare::geu: return !(a < b);
    case Compare::num: return !unordered;
    case Compare::nan: return unordered;
  }
}

template <Compare C, class T, bool Ftz = false>
constexpr Run kCompare = op2<[](T a, T b) {
  if constexpr (Ftz) return compared<C>(flush(a), flush(b));
  else return compared<C>(a, b);
},
                             bool, T, T>;
template <Compare C, class H>
constexpr Run kCompareHalf = op2<[](u16 a, u16 b) { return compared<C>(value(H{a}), value(H{b})); }, bool, u16, u16>;

template <Compare C>
Run comparison_of_floats(Type t, bool ftz) {
  switch (t) {
    case Type::f32: return ftz ? kCompare<C, float, true> : kCompare<C, float>;
    case Type::f64: return kCompare<C, double>;
    case Type::f16: return kCompareHalf<C, F16>;
    case Type::bf16: return kCompareHalf<C, BF16>;
    default: return nullptr;
  }
}
template <Compare C>
Run comparison(Type t, bool ftz) {
  switch (t) {
    case Type::b16:
    case Type::u16: return kCompare<C, u16>;
    case Type::s16: return kCompare<C, s16>;
    case Type::b32:
    case Type::u32: return kCompare<C, u32>;
    case Type::s32: return kCompare<C, s32>;
    case Type::b64:
    case Type::u64: return kCompare<C, u64>;
    case Type::s64: return kCompare<C, s64>;
    default: return comparison_of_floats<C>(t, ftz);
  }
}

Run comparison(int c, Type t, bool ftz) {
  switch (c) {
    case 0: return comparison<Compare::eq>(t, ftz);
    case 1: return comparison<Compare::ne>(t, ftz);
    case 2: return comparison<Compare::lt>(t, ftz);
    case 3: return comparison<Compare::le>(t, ftz);
    case 4: return comparison<Compare::gt>(t, ftz);
    case 5: return comparison<Compare::ge>(t, ftz);
    case 6: return comparison_of_floats<Compare::equ>(t, ftz);
    case 7: return comparison_of_floats<Compare::neu>(t, ftz);
    case 8: return comparison_of_floats<Compare::ltu>(t, ftz);
    case 9: return comparison_of_floats<Compare::leu>(t, ftz);
    case 10: return comparison_of_floats<Compare::gtu>(t, ftz);
    case 11: return comparison_of_floats<Compare::geu>(t, ftz);
    case 12: return comparison_of_floats<Compare::num>(t, ftz);
    default: return comparison_of_floats<Compare::nan>(t, ftz);
  }
}

// Combines a comparison, which lies at d, with a predicate, and gives the complement to the second result.
void combine(Warp& w, const Op& o) {
  const auto* c = o.how & 7 ? w.at<u32>(o.a) : nullptr;
  auto *p = w.at<u32>(o.d), *q = o.how & 32 ? w.at<u32>(w.program->lists[o.list]) : nullptr;
  const u32 flip = o.how & 8 ? ~0u : 0u;
  for (unsigned i = 0; i < kLanes; ++i) {
    if ((w.mask >> i & 1) == 0) continue;
    const u32 with = c != nullptr ? c[i] ^ flip : 0, is = p[i];
    const auto joined = [&](u32 v) {
      return (o.how & 7) == 1 ? v & with : (o.how & 7) == 2 ? v | with : (o.how & 7) == 3 ? v ^ with : v;
    };
    p[i] = joined(is);
    if (q != nullptr) q[i] = joined(~is);
  }
}

}  // namespace

void decode_compare(Decoder& d) {
  int c = d.take_one({"eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"});
  if (const int low = d.take_one({"lo", "ls", "hi", "hs"}); low >= 0) c = low + 2;
  const int with = d.take_one({"and", "or", "xor"});
  const bool ftz = d.take("ftz");
  const Type t = d.take_type();
  d.op.run = c < 0 ? nullptr : comparison(c, t, ftz);
  if (d.op.run == nullptr) d.refuse("is not run in this form");
  d.operands(with < 0 ? 3 : 4);
  const bool pair = d.operand(0).kind == Operand::Kind::pair;
  const Operand& p = pair ? d.part(d.operand(0), 0) : d.operand(0);
  const Op head = d.op;  // its guard and place hold for both operations
  d.out(&Op::d, p, Type::pred);
  d.in(&Op::a, 1, t);
  d.in(&Op::b, 2, t);
  d.emit();
  if (with < 0 && !pair) return;
  d.op = head;
  d.op.run = combine;
  d.op.list = static_cast<u32>(d.program.lists.size());
  d.guard_again();
  d.op.how = static_cast<std::uint8_t>(with + 1);
  d.in(&Op::d, p, Type::pred);
  d.out(&Op::d, p, Type::pred);
  if (with >= 0) {
    Operand third = d.operand(3);
    d.op.how = static_cast<std::uint8_t>(d.op.how | (third.negated ? 8 : 0));
    third.negated = false;
    d.in(&Op::a, third, Type::pred);
  }
  if (pair && d.part(d.operand(0), 1).kind == Operand::Kind::reg) {
    d.op.how = static_cast<std::uint8_t>(d.op.how | 32);
    d.out_list(d.part(d.operand(0), 1), Type::pred);
  }
  d.emit();
}

void decode_select(Decoder& d) {
  const Type t = d.take_type();
  d.operands(4);
  d.op.run = bits_of(t) == 64 ? op3<[](u64 a, u64 b, bool p) { return p ? a : b; }, u64, u64, u64, bool>
                              : op3<[](u32 a, u32 b, bool p) { return p ? a : b; }, u32, u32, u32, bool>;
  d.out(&Op::d, 0, t);
  d.in(&Op::a, 1, t);
  d.in(&Op::b, 2, t);
  d.in(&Op::c, 3, Type::pred);
  d.emit();
}

}  // namespace simt::ptx
