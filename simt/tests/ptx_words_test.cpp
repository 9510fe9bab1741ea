// SPDX-License-Identifier: Apache-2.0
// What each PTX instruction computes, against a plain definition of it, over edge values and random operands.
#include <algorithm>
#include <bit>
#include <cfenv>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "ptx_testing.hpp"
#include "special.hpp"

namespace {

using namespace simt::testing;
using u32 = std::uint32_t;
using s32 = std::int32_t;
using u64 = std::uint64_t;
using s64 = std::int64_t;

constexpr unsigned kThreads = 256, kBlocks = 8, kCount = kThreads * kBlocks;

u64 mixed(u64& state) {
  u64 z = state += 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}
constexpr u64 kEdges[] = {0,
                          1,
                          2,
                          31,
                          32,
                          33,
                          0x7fffffff,
                          0x80000000,
                          0xffffffff,
                          0x3f800000,
                          0xbf800000,
                          0x7f800000,
                          0xff800000,
                          0x7fc00000,
                          0x00000001,
                          0x807fffff,
                          0x00800000,
                          0x7f7fffff,
                          0x3c003c00,
                          0x7c00fc00,
                          0x7e000001,
                          0x03ff8001,
                          0x8000000000000000,
                          0x7fffffffffffffff,
                          0xffffffffffffffff,
                          0x3ff0000000000000,
                          0x4b000000,
                          0x4f000000};
u64 operand(u64& state) {
  const u64 r = mixed(state);
  if (r % 3 == 0) return kEdges[r / 3 % std::size(kEdges)];
  if (r % 3 == 1) return std::bit_cast<u32>(static_cast<float>(static_cast<s64>(mixed(state) >> 40) - (1 << 23)) * 0x1p-16f);
  return mixed(state);
}

// Runs `instruction` on 64-bit operands %rd1 to %rd3, of which %r1 to %r3, %f1 to %f3 and %h1 to %h3 are the low bits; it leaves
// its result in %rd4, or with `narrow` in %r4.
std::vector<u64> results(const std::string& instruction, const std::vector<u64> (&in)[3], bool narrow) {
  const Entry entry("a b c d", R"(
  .reg .b16 %h<9>; .reg .b32 %r<16>; .reg .f32 %f<9>; .reg .b64 %rd<20>; .reg .f64 %fd<9>; .reg .pred %p<9>;
  ld.param.u64 %rd10, [a]; ld.param.u64 %rd11, [b]; ld.param.u64 %rd12, [c]; ld.param.u64 %rd13, [d];
  mov.u32 %r10, %ctaid.x; mov.u32 %r11, %ntid.x; mov.u32 %r12, %tid.x;
  mad.lo.s32 %r13, %r10, %r11, %r12;
  mul.wide.u32 %rd14, %r13, 8;
  add.s64 %rd10, %rd10, %rd14; add.s64 %rd11, %rd11, %rd14; add.s64 %rd12, %rd12, %rd14; add.s64 %rd13, %rd13, %rd14;
  ld.global.u64 %rd1, [%rd10]; ld.global.u64 %rd2, [%rd11]; ld.global.u64 %rd3, [%rd12];
  cvt.u32.u64 %r1, %rd1; cvt.u32.u64 %r2, %rd2; cvt.u32.u64 %r3, %rd3;
  mov.b32 %f1, %r1; mov.b32 %f2, %r2; mov.b32 %f3, %r3;
  cvt.u16.u64 %h1, %rd1; cvt.u16.u64 %h2, %rd2; cvt.u16.u64 %h3, %rd3;
  mov.b64 %fd1, %rd1; mov.b64 %fd2, %rd2;
  mov.u64 %rd4, 0; mov.u32 %r4, 0; mov.f32 %f4, 0f00000000;
  )" + instruction + (narrow ? "\ncvt.u64.u32 %rd4, %r4;" : "") +
                                   "\nst.global.u64 [%rd13], %rd4; ret;");
  const Buffer<u64> a(kCount), b(kCount), c(kCount), d(kCount);
  for (unsigned i = 0; i < kCount; ++i) {
    a[i] = in[0][i];
    b[i] = in[1][i];
    c[i] = in[2][i];
  }
  entry.run(kBlocks, kThreads, a.get(), b.get(), c.get(), d.get());
  return {d.get(), d.get() + kCount};
}

void check(const std::string& instruction, bool narrow, const std::function<u64(u64, u64, u64)>& want) {
  std::vector<u64> in[3];
  u64 state = std::hash<std::string>{}(instruction);
  for (auto& v : in)
    for (unsigned i = 0; i < kCount; ++i) v.push_back(operand(state));
  constexpr unsigned kAll = std::size(kEdges);  // each pair of edge values comes first
  for (unsigned i = 0; i < kAll * kAll; ++i) {
    in[0][i] = kEdges[i / kAll];
    in[1][i] = kEdges[i % kAll];
  }
  const std::vector<u64> got = results(instruction, in, narrow);
  unsigned wrong = 0, first = 0;
  for (unsigned i = 0; i < kCount; ++i)
    if (got[i] != want(in[0][i], in[1][i], in[2][i]) && wrong++ == 0) first = i;
  INFO(instruction << " of " << std::hex << in[0][first] << " " << in[1][first] << " " << in[2][first] << " gives " << got[first]
                   << ", not " << want(in[0][first], in[1][first], in[2][first]));
  CHECK(wrong == 0);
}
void check32(const std::string& instruction, const std::function<u32(u32, u32, u32)>& want) {
  check(instruction, true,
        [&](u64 a, u64 b, u64 c) { return u64{want(static_cast<u32>(a), static_cast<u32>(b), static_cast<u32>(c))}; });
}
void check_float(const std::string& instruction, const std::function<float(float, float, float)>& want) {
  check32(instruction + " mov.b32 %r4, %f4;", [&](u32 a, u32 b, u32 c) {
    const float v = want(std::bit_cast<float>(a), std::bit_cast<float>(b), std::bit_cast<float>(c));
    return v != v ? 0x7fffffffu : std::bit_cast<u32>(v);
  });
}

TEST_CASE("ptx words: integers", "[simt][ptx]") {
  check32("add.s32 %r4, %r1, %r2;", [](u32 a, u32 b, u32) { return a + b; });
  check32("sub.s32 %r4, %r1, %r2;", [](u32 a, u32 b, u32) { return a - b; });
  check32("mul.lo.s32 %r4, %r1, %r2;", [](u32 a, u32 b, u32) { return a * b; });
  check32("mul.hi.s32 %r4, %r1, %r2;",
          [](u32 a, u32 b, u32) { return static_cast<u32>(s64{static_cast<s32>(a)} * static_cast<s32>(b) >> 32); });
  check32("mul.hi.u32 %r4, %r1, %r2;", [](u32 a, u32 b, u32) { return static_cast<u32>(u64{a} * b >> 32); });
  check32("mad.lo.s32 %r4, %r1, %r2, %r3;", [](u32 a, u32 b, u32 c) { return a * b + c; });
  check("mul.wide.s32 %rd4, %r1, %r2;", false,
        [](u64 a, u64 b, u64) { return static_cast<u64>(s64{static_cast<s32>(a)} * static_cast<s32>(b)); });
  check("mad.wide.u32 %rd4, %r1, %r2, %rd3;", false,
        [](u64 a, u64 b, u64 c) { return u64{static_cast<u32>(a)} * static_cast<u32>(b) + c; });
  check("mul.lo.s64 %rd4, %rd1, %rd2;", false, [](u64 a, u64 b, u64) { return a * b; });
  check32("div.s32 %r4, %r1, %r2;", [](u32 a, u32 b, u32) {
    return b == 0 ? ~0u : b == ~0u ? 0 - a : static_cast<u32>(static_cast<s32>(a) / static_cast<s32>(b));
  });
  check32("rem.u32 %r4, %r1, %r2;", [](u32 a, u32 b, u32) { return b == 0 ? ~0u : a % b; });
  check("div.s64 %rd4, %rd1, %rd2;", false, [](u64 a, u64 b, u64) {
    return b == 0 ? ~u64{0} : b == ~u64{0} ? 0 - a : static_cast<u64>(static_cast<s64>(a) / static_cast<s64>(b));
  });
  check32("min.s32 %r4, %r1, %r2;", [](u32 a, u32 b, u32) { return static_cast<s32>(a) < static_cast<s32>(b) ? a : b; });
  check32("max.u32 %r4, %r1, %r2;", [](u32 a, u32 b, u32) { return a > b ? a : b; });
  check32("neg.s32 %r4, %r1;", [](u32 a, u32, u32) { return 0 - a; });
  check32("abs.s32 %r4, %r1;", [](u32 a, u32, u32) { return a >> 31 ? 0 - a : a; });
  check("add.cc.u32 %r5, %r1, %r2; addc.u32 %r6, %r3, %r3; mov.b64 %rd4, {%r5, %r6};", false, [](u64 a, u64 b, u64 c) {
    const u64 sum = u64{static_cast<u32>(a)} + static_cast<u32>(b);
    return (sum & 0xffffffffu) | u64{static_cast<u32>(2 * c + (sum >> 32))} << 32;
  });
}

TEST_CASE("ptx words: an instruction may read the low bits of a larger register", "[simt][ptx]") {
  check("cvt.s64.s32 %rd4, %rd1;", false, [](u64 a, u64, u64) { return static_cast<u64>(s64{static_cast<s32>(a)}); });
}

TEST_CASE("ptx words: bits", "[simt][ptx]") {
  check32("and.b32 %r4, %r1, %r2;", [](u32 a, u32 b, u32) { return a & b; });
  check32("not.b32 %r4, %r1;", [](u32 a, u32, u32) { return ~a; });
  check32("shl.b32 %r4, %r1, %r2;", [](u32 a, u32 b, u32) { return b > 31 ? 0 : a << b; });
  check32("shr.s32 %r4, %r1, %r2;", [](u32 a, u32 b, u32) { return static_cast<u32>(static_cast<s32>(a) >> (b > 31 ? 31 : b)); });
  check("shr.u64 %rd4, %rd1, %r2;", false,
        [](u64 a, u64 b, u64) { return static_cast<u32>(b) > 63 ? 0 : a >> static_cast<u32>(b); });
  check32("shf.l.wrap.b32 %r4, %r1, %r2, %r3;",
          [](u32 a, u32 b, u32 c) { return static_cast<u32>((u64{b} << 32 | a) << (c & 31) >> 32); });
  check32("shf.r.clamp.b32 %r4, %r1, %r2, %r3;",
          [](u32 a, u32 b, u32 c) { return c > 31 ? b : static_cast<u32>((u64{b} << 32 | a) >> c); });
  check32("popc.b32 %r4, %r1;", [](u32 a, u32, u32) { return static_cast<u32>(std::popcount(a)); });
  check32("clz.b32 %r4, %r1;", [](u32 a, u32, u32) { return static_cast<u32>(std::countl_zero(a)); });
  check32("lop3.b32 %r4, %r1, %r2, %r3, 0xca;", [](u32 a, u32 b, u32 c) { return (a & b) | (~a & c); });
  check32("lop3.b32 %r4, %r1, %r2, %r3, 0x96;", [](u32 a, u32 b, u32 c) { return a ^ b ^ c; });
  check32("prmt.b32 %r4, %r1, %r2, 0x7531;",
          [](u32 a, u32 b, u32) { return (a >> 8 & 0xff) | (a >> 24) << 8 | (b >> 8 & 0xff) << 16 | (b >> 24) << 24; });
  check32("prmt.b32 %r4, %r1, %r2, 0x98ba;", [](u32 a, u32, u32) {
    const auto sign = [&](u32 k) { return a >> (8 * k + 7) & 1 ? 0xffu : 0u; };
    return sign(2) | sign(3) << 8 | sign(0) << 16 | sign(1) << 24;
  });
  check32("bfe.u32 %r4, %r1, 5, 7;", [](u32 a, u32, u32) { return a >> 5 & 127; });
  check32("bfe.s32 %r4, %r1, 28, 9;", [](u32 a, u32, u32) { return static_cast<u32>(static_cast<s32>(a) >> 28); });
  check32("bfi.b32 %r4, %r1, %r2, 4, 8;", [](u32 a, u32 b, u32) { return (b & ~0xff0u) | (a & 0xff) << 4; });
  // Bit k is one if a <= k < a + b.
  const auto mask = [](u32 a, u32 b) {
    u32 r = 0;
    for (u32 k = 0; k < 32; ++k) r |= u32{a <= k && k < u64{a} + b} << k;
    return r;
  };
  check32("bmsk.clamp.b32 %r4, %r1, %r2;", [&](u32 a, u32 b, u32) { return mask(a, b); });
  check32("bmsk.wrap.b32 %r4, %r1, %r2;", [&](u32 a, u32 b, u32) { return mask(a % 32, b % 32); });
  check32("bmsk.wrap.b32 %r4, 1, 2;", [](u32, u32, u32) { return 6u; });
  check32("dp4a.s32.s32 %r4, %r1, %r2, %r3;", [](u32 a, u32 b, u32 c) {
    for (int k = 0; k < 32; k += 8) c += static_cast<u32>(static_cast<std::int8_t>(a >> k) * static_cast<std::int8_t>(b >> k));
    return c;
  });
  check32("setp.lt.s32 %p1, %r1, %r2; selp.b32 %r4, %r1, %r3, %p1;",
          [](u32 a, u32 b, u32 c) { return static_cast<s32>(a) < static_cast<s32>(b) ? a : c; });
  check32("setp.hs.u32 %p1, %r1, %r2; selp.b32 %r4, 1, 0, %p1;", [](u32 a, u32 b, u32) { return u32{a >= b}; });
  check32("setp.gtu.f32 %p1, %f1, %f2; selp.b32 %r4, 1, 0, %p1;",
          [](u32 a, u32 b, u32) { return u32{!(std::bit_cast<float>(a) <= std::bit_cast<float>(b))}; });
  check32("setp.ne.s32 %p3, %r3, 0; setp.eq.and.s32 %p1|%p2, %r1, %r2, %p3; selp.b32 %r5, 1, 0, %p1; selp.b32 %r4, 2, %r5, %p2;",
          [](u32 a, u32 b, u32 c) { return c == 0   ? 0u
                                           : a == b ? 1u
                                                    : 2u; });
}

float flushed(float v) { return std::fabs(v) < std::numeric_limits<float>::min() ? std::copysign(0.0f, v) : v; }

TEST_CASE("ptx words: floats", "[simt][ptx]") {
  check_float("add.f32 %f4, %f1, %f2;", [](float a, float b, float) { return a + b; });
  check_float("add.ftz.f32 %f4, %f1, %f2;", [](float a, float b, float) { return flushed(flushed(a) + flushed(b)); });
  check_float("mul.sat.f32 %f4, %f1, %f2;", [](float a, float b, float) { return a * b > 0 ? std::fmin(a * b, 1.0f) : 0.0f; });
  check_float("fma.rn.f32 %f4, %f1, %f2, %f3;", [](float a, float b, float c) { return std::fmaf(a, b, c); });
  check_float("div.rn.f32 %f4, %f1, %f2;", [](float a, float b, float) { return a / b; });
  check_float("sqrt.rn.f32 %f4, %f1;", [](float a, float, float) { return std::sqrt(a); });
  check_float("min.f32 %f4, %f1, %f2;", [](float a, float b, float) {
    if (a != a || b != b) return a != a ? b : a;
    return a == b ? (std::signbit(a) ? a : b) : std::fmin(a, b);
  });
  check_float("max.NaN.f32 %f4, %f1, %f2;", [](float a, float b, float) {
    return a != a || b != b ? a + b : a == b ? (std::signbit(a) ? b : a) : std::fmax(a, b);
  });
  check_float("cvt.rni.f32.f32 %f4, %f1;", [](float a, float, float) { return std::nearbyint(a); });
  check_float("cvt.rzi.f32.f32 %f4, %f1;", [](float a, float, float) { return std::trunc(a); });
  check_float("cvt.rn.f32.u32 %f4, %r1;", [](float a, float, float) { return static_cast<float>(std::bit_cast<u32>(a)); });
  for (const auto& [name, mode] : {std::pair{"rm", FE_DOWNWARD}, std::pair{"rp", FE_UPWARD}, std::pair{"rz", FE_TOWARDZERO}}) {
    check_float(std::string("add.") + name + ".f32 %f4, %f1, %f2;", [m = mode](float a, float b, float) {
      std::fesetround(m);
      const volatile float x = a, y = b;
      const volatile float sum = x + y;
      std::fesetround(FE_TONEAREST);
      return static_cast<float>(sum);
    });
  }
  check("cvt.rzi.s32.f32 %r4, %f1;", true, [](u64 a, u64, u64) -> u64 {
    const float v = std::bit_cast<float>(static_cast<u32>(a));
    return static_cast<u32>(v != v ? 0 : v >= 0x1p31f ? INT32_MAX : v <= -0x1p31f ? INT32_MIN : static_cast<s32>(v));
  });
  check("cvt.rn.f32.f64 %f4, %fd1; mov.b32 %r4, %f4;", true, [](u64 a, u64, u64) -> u64 {
    return std::bit_cast<u32>(static_cast<float>(std::bit_cast<double>(a)));  // a NaN keeps its sign and its leading bits
  });
  // 2^-126 (1 - 2^-24) has 24 bits and is flushed, and 2^-126 (1 - 2^-46) becomes 2^-126.
  check_float("mov.f32 %f1, 0f00800000; mov.f32 %f2, 0f3f7fffff; mul.ftz.f32 %f4, %f1, %f2;",
              [](float, float, float) { return 0; });
  check_float("mov.f32 %f1, 0f00800001; mov.f32 %f2, 0f3f7ffffe; mul.ftz.f32 %f4, %f1, %f2;",
              [](float, float, float) { return 0x1p-126f; });
}

// The nearest value of a 16-bit format, ties to even, found among all of them.
u32 nearest(double v, bool half) {
  static std::vector<double> all[2];
  if (all[half].empty())
    for (u32 b = 0; b <= (half ? 0x7c00u : 0x7f80u); ++b) {
      const int fraction = half ? 10 : 7, bias = half ? 15 : 127;
      const int field = static_cast<int>(b >> fraction), low = static_cast<int>(b & ((1u << fraction) - 1));
      all[half].push_back(std::ldexp(field ? low + (1 << fraction) : low, std::max(field, 1) - bias - fraction));
    }
  if (v != v) return 0x7fff;
  const auto& values = all[half];
  const double a = std::fabs(v);
  const auto above = static_cast<std::size_t>(std::lower_bound(values.begin(), values.end(), a) - values.begin());
  std::size_t best = std::min(above, values.size() - 1);
  if (best > 0 && a < values[best]) {
    const double up = values[best] - a, down = a - values[best - 1];
    if (down < up || (down == up && best % 2 != 0)) --best;
  }
  return static_cast<u32>(best) | (std::signbit(v) ? 0x8000u : 0u);
}
double half_value(u32 bits) { return simt::device::widen(simt::device::half{static_cast<std::uint16_t>(bits)}); }
double bfloat_value(u32 bits) { return std::bit_cast<float>(bits << 16); }

TEST_CASE("ptx words: 16-bit floats", "[simt][ptx]") {
  check32("cvt.rn.f16.f32 %h4, %f1; cvt.u32.u16 %r4, %h4;",
          [](u32 a, u32, u32) { return nearest(std::bit_cast<float>(a), true); });
  check32("cvt.rn.bf16.f32 %h4, %f1; cvt.u32.u16 %r4, %h4;",
          [](u32 a, u32, u32) { return nearest(std::bit_cast<float>(a), false); });
  check32("cvt.rn.f16x2.f32 %r4, %f1, %f2;", [](u32 a, u32 b, u32) {
    return nearest(std::bit_cast<float>(a), true) << 16 | nearest(std::bit_cast<float>(b), true);
  });
  check32("add.f16 %h4, %h1, %h2; cvt.u32.u16 %r4, %h4;",
          [](u32 a, u32 b, u32) { return nearest(half_value(a) + half_value(b), true); });
  check32("mul.bf16x2 %r4, %r1, %r2;", [](u32 a, u32 b, u32) {
    const auto one = [](u32 x, u32 y) { return nearest(bfloat_value(x & 0xffff) * bfloat_value(y & 0xffff), false); };
    return one(a, b) | one(a >> 16, b >> 16) << 16;
  });
  check32("fma.rn.f16 %h4, %h1, %h2, %h3; cvt.u32.u16 %r4, %h4;", [](u32 a, u32 b, u32 c) {
    const long double exact = static_cast<long double>(half_value(a)) * half_value(b) + half_value(c);
    double v = static_cast<double>(exact);  // 64 bits, of which the last says what double loses
    if (v == exact || v != v || std::isinf(v)) return nearest(v, true);
    if ((std::bit_cast<u64>(v) & 1) == 0) v = std::nextafter(v, exact > v ? HUGE_VAL : -HUGE_VAL);
    return nearest(v, true);
  });
}

TEST_CASE("ptx words: approximate functions are those of the special function unit", "[simt][ptx]") {
  using namespace simt::detail;
  const std::pair<std::string, float (*)(float)> kUnits[] = {{"ex2", special_power},
                                                             {"rcp", special_reciprocal},
                                                             {"rsqrt", special_reciprocal_root},
                                                             {"sqrt", special_root},
                                                             {"lg2", special_logarithm}};
  for (const auto& [name, unit] : kUnits)
    check_float(name + ".approx.ftz.f32 %f4, %f1;", [f = unit](float a, float, float) { return f(a); });
  // without .ftz
  check_float("rcp.approx.f32 %f4, %f1;", [](float a, float, float) {
    const float b = std::fabs(a) < 0x1p-126f ? 0x1p24f : std::fabs(a) >= 0x1p126f && std::isfinite(a) ? 0.25f : 1.0f;
    return special_reciprocal(a * b) * b;
  });
  check_float("sqrt.approx.f32 %f4, %f1;", [](float a, float, float) {
    return std::fabs(a) < 0x1p-126f ? special_root(a * 0x1p24f) * 0x1p-12f : special_root(a);
  });
  check_float("ex2.approx.f32 %f4, %f1;", [](float a, float, float) {
    const float half = special_power(a / 2);
    return a < -126 ? half * half : special_power(a);
  });
}

}  // namespace
