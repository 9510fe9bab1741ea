// SPDX-License-Identifier: Apache-2.0
// What the lanes of a warp tell each other: shuffles, votes, matches, reductions.
#include <algorithm>
#include <bit>

#include "decode.hpp"
#include "findings.hpp"

namespace simt::ptx {

namespace {

using u32 = std::uint32_t;
using s32 = std::int32_t;
using u64 = std::uint64_t;

enum class Way : std::uint8_t { up, down, bfly, idx };

// Lane `lane` reads from the one that it returns; `in`: whether that lies in its segment.
unsigned source_of(Way way, unsigned lane, u32 b, u32 c, bool& in) {
  const u32 clamp = c & 31, segment = c >> 8 & 31, last = (lane & segment) | (clamp & ~segment), first = lane & segment;
  const auto at = static_cast<s32>(lane), by = static_cast<s32>(b & 31);
  s32 from = 0;
  switch (way) {
    case Way::up:
      from = at - by;
      in = from >= static_cast<s32>(last);
      break;
    case Way::down:
      from = at + by;
      in = from <= static_cast<s32>(last);
      break;
    case Way::bfly:
      from = at ^ by;
      in = from <= static_cast<s32>(last);
      break;
    case Way::idx:
      from = static_cast<s32>(first | (static_cast<u32>(by) & ~segment));
      in = from <= static_cast<s32>(last);
      break;
  }
  return in ? static_cast<unsigned>(from) : lane;
}

void shuffle(Warp& w, const Op& o) {
  const Place* const more = w.program->lists.data() + o.list;  // the lanes, then the second result
  const auto *a = w.at<u32>(o.a), *b = w.at<u32>(o.b), *c = w.at<u32>(o.c), *members = w.at<u32>(more[0]);
  u32 values[kLanes];
  std::copy(a, a + kLanes, values);
  auto* d = w.at<u32>(o.d);
  auto* p = more[1] != kNone ? w.at<u32>(more[1]) : nullptr;
  for (unsigned i = 0; i < kLanes; ++i) {
    if ((w.mask >> i & 1) == 0) continue;
    bool in = false;
    const unsigned from = source_of(static_cast<Way>(o.how), i, b[i], c[i], in);
    if ((w.mask & members[i]) >> from == 0 || ((w.mask & members[i]) >> from & 1) == 0) {
      detail::running_thread = w.thread + i;
      detail::stop({.what = detail::Trouble::What::source_inactive,
                    .where = o.where,
                    .mask = members[i],
                    .lane = from,
                    .kind = detail::Meet::shuffle});
    }
    d[i] = values[from];
    if (p != nullptr) p[i] = in ? ~0u : 0u;
  }
}

// how: 0 all, 1 any, 2 uni, 3 ballot; 8: the predicate is negated.
void vote(Warp& w, const Op& o) {
  const u32 members = w.at<u32>(w.program->lists[o.list])[std::countr_zero(w.mask)] & w.mask;
  u32 yes = w.lanes_of(o.a);
  if (o.how & 8) yes = ~yes;
  yes &= members;
  const unsigned kind = o.how & 7;
  const bool outcome = kind == 0 ? yes == members : kind == 1 ? yes != 0 : yes == 0 || yes == members;
  const u32 result = kind == 3 ? yes : outcome ? ~0u : 0u;
  for_lanes(w, w.at<u32>(o.d), [=](unsigned) { return result; });
}
void active(Warp& w, const Op& o) {
  const u32 lanes = w.mask;
  for_lanes(w, w.at<u32>(o.d), [=](unsigned) { return lanes; });
}

template <class T, bool All>
void match(Warp& w, const Op& o) {
  const Place* const more = w.program->lists.data() + o.list;
  const auto* a = w.at<Store<T>>(o.a);
  const u32 members = w.at<u32>(more[0])[std::countr_zero(w.mask)] & w.mask;
  auto* p = more[1] != kNone ? w.at<u32>(more[1]) : nullptr;
  u32 alike[kLanes] = {};
  for (unsigned i = 0; i < kLanes; ++i)
    for (unsigned k = 0; k < kLanes; ++k)
      if (members >> k & 1) alike[i] |= static_cast<u32>(static_cast<T>(a[i]) == static_cast<T>(a[k])) << k;
  for (unsigned i = 0; i < kLanes; ++i) {
    if ((w.mask >> i & 1) == 0) continue;
    const bool whole = alike[i] == members;
    w.at<u32>(o.d)[i] = All && !whole ? 0 : alike[i];
    if (p != nullptr) p[i] = whole ? ~0u : 0u;
  }
}

template <class T, auto F>
void reduce(Warp& w, const Op& o) {
  const auto* a = w.at<u32>(o.a);
  const u32 members = w.at<u32>(w.program->lists[o.list])[std::countr_zero(w.mask)] & w.mask;
  T r = static_cast<T>(a[std::countr_zero(members)]);
  for (u32 left = members & (members - 1); left != 0; left &= left - 1) r = F(r, static_cast<T>(a[std::countr_zero(left)]));
  for_lanes(w, w.at<u32>(o.d), [=](unsigned) { return static_cast<u32>(r); });
}

void elect(Warp& w, const Op& o) {
  const Place* const more = w.program->lists.data() + o.list;
  const auto first = static_cast<u32>(std::countr_zero(w.at<u32>(more[0])[std::countr_zero(w.mask)] & w.mask));
  if (o.n) for_lanes(w, w.at<u32>(o.d), [=](unsigned) { return first; });
  if (more[1] != kNone) for_lanes(w, w.at<u32>(more[1]), [=](unsigned i) { return i == first ? ~0u : 0u; });
}

// The first result and, after the members, the second: `d|p`.
void results(Decoder& d, Type t) {
  const Operand& r = d.operand(0);
  const Operand& first = r.kind == Operand::Kind::pair ? d.part(r, 0) : r;
  d.op.n = first.kind == Operand::Kind::reg;
  if (d.op.n) d.out(&Op::d, first, t);
  if (r.kind == Operand::Kind::pair) d.out_list(d.part(r, 1), Type::pred);
  else d.no_list();
}

}  // namespace

void decode_shuffle(Decoder& d) {
  const int way = d.take_one({"up", "down", "bfly", "idx"});
  if (!d.take("sync") || way < 0 || !d.take("b32")) d.refuse("is not run in this form");
  d.operands(5);
  d.op.run = shuffle;
  d.op.how = static_cast<std::uint8_t>(way);
  d.op.flow = Flow::together;
  d.in(&Op::a, 1, Type::b32);
  d.in(&Op::b, 2, Type::b32);
  d.in(&Op::c, 3, Type::b32);
  d.in_list(d.operand(4), Type::b32);
  results(d, Type::b32);
  if (!d.op.n) d.refuse("has no result");
  d.emit();
}

namespace {

void decode_match(Decoder& d) {
  const int all = d.take_one({"any", "all"});
  const Type t = d.take_type();
  d.op.run =
      bits_of(t) == 64 ? (all == 1 ? match<u64, true> : match<u64, false>) : (all == 1 ? match<u32, true> : match<u32, false>);
  d.operands(3);
  d.in(&Op::a, 1, t);
  d.in_list(d.operand(2), Type::b32);
  results(d, Type::b32);
  d.emit();
}

void decode_reduction(Decoder& d) {
  const int k = d.take_one({"add", "min", "max", "and", "or", "xor"});
  const Type t = d.take_type();
  const bool s = t == Type::s32;
  if (bits_of(t) != 32 || is_float(t) || k < 0) d.refuse("is not run for this type");
  constexpr auto kLess = [](auto a, auto b) { return std::min(a, b); };
  constexpr auto kMore = [](auto a, auto b) { return std::max(a, b); };
  const Run runs[] = {reduce<u32, [](u32 a, u32 b) { return a + b; }>, s ? reduce<s32, kLess> : reduce<u32, kLess>,
                      s ? reduce<s32, kMore> : reduce<u32, kMore>,     reduce<u32, [](u32 a, u32 b) { return a & b; }>,
                      reduce<u32, [](u32 a, u32 b) { return a | b; }>, reduce<u32, [](u32 a, u32 b) { return a ^ b; }>};
  d.op.run = runs[k];
  d.operands(3);
  d.out(&Op::d, 0, t);
  d.in(&Op::a, 1, t);
  d.in_list(d.operand(2), Type::b32);
  d.emit();
}

}  // namespace

void decode_vote(Decoder& d) {
  if (d.base == "activemask") {
    d.take("b32");
    d.operands(1);
    d.op.run = active;
    d.out(&Op::d, 0, Type::b32);
    return d.emit();
  }
  if (!d.take("sync")) d.refuse("is not run in this form");
  d.op.flow = Flow::together;
  if (d.base == "match") return decode_match(d);
  if (d.base == "redux") return decode_reduction(d);
  if (d.base == "elect") {
    d.operands(2);
    d.op.run = elect;
    d.in_list(d.operand(1), Type::b32);
    results(d, Type::b32);
    return d.emit();
  }
  const int kind = d.take_one({"all", "any", "uni", "ballot"});
  const Type t = d.take_type();
  if (kind < 0 || (kind == 3) != (t == Type::b32)) d.refuse("is not run in this form");
  d.operands(3);
  Operand asked = d.operand(1);
  d.op.run = vote;
  d.op.how = static_cast<std::uint8_t>(kind | (asked.negated ? 8 : 0));
  asked.negated = false;
  d.out(&Op::d, 0, t);
  d.in(&Op::a, asked, Type::pred);
  d.in_list(d.operand(2), Type::b32);
  d.emit();
}

}  // namespace simt::ptx
