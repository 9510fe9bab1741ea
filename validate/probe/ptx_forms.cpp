// SPDX-License-Identifier: Apache-2.0
#include "validate/probe/ptx_forms.hpp"

#include <fmt/format.h>

#include <initializer_list>
#include <string_view>

namespace assay {

namespace {

// In a pattern, <a|b|c> stands for each of its words, and @1 for the word that the first of these groups took.
constexpr std::string_view kPatterns[] = {
    // --- integers
    "<add|sub|min|max|div|rem>.<u16|s16> %h0, %h1, %h2;",
    "<add|sub|min|max|div|rem>.<u32|s32> %r0, %r1, %r2;",
    "<add|sub|min|max|div|rem>.<u64|s64> %rd0, %rd1, %rd2;",
    "<add|sub>.sat.s32 %r0, %r1, %r2;",
    "<abs|neg>.s16 %h0, %h1;",
    "<abs|neg>.s32 %r0, %r1;",
    "<abs|neg>.s64 %rd0, %rd1;",
    "mul.<lo|hi>.<u16|s16> %h0, %h1, %h2;",
    "mul.<lo|hi>.<u32|s32> %r0, %r1, %r2;",
    "mul.<lo|hi>.<u64|s64> %rd0, %rd1, %rd2;",
    "mul.wide.<u16|s16> %r0, %h1, %h2;",
    "mul.wide.<u32|s32> %rd0, %r1, %r2;",
    "mad.lo.<u16|s16> %h0, %h1, %h2, %h3;",
    "mad.<lo|hi>.<u32|s32> %r0, %r1, %r2, %r3;",
    "mad.<lo|hi>.<u64|s64> %rd0, %rd1, %rd2, %rd3;",
    "mad.wide.<u16|s16> %r0, %h1, %h2, %r3;",
    "mad.wide.<u32|s32> %rd0, %r1, %r2, %rd3;",
    "<add|sub>.cc.<u32|s32> %r9, %r1, %r2; @1c.@2 %r0, %r3, %r4;",
    "<add|sub>.cc.<u64|s64> %rd9, %rd1, %rd2; @1c.@2 %rd0, %rd3, %rd4;",
    "<add|sub>.cc.u32 %r9, %r1, %r2; @1c.cc.u32 %r10, %r3, %r4; @1c.u32 %r0, %r1, %r3;",
    "<add|sub>.cc.u64 %rd9, %rd1, %rd2; @1c.cc.u64 %rd10, %rd3, %rd4; @1c.u64 %rd0, %rd1, %rd3;",
    "mad.<lo|hi>.cc.<u32|s32> %r9, %r1, %r2, %r3; madc.<lo|hi>.@2 %r0, %r1, %r2, %r4;",
    "mad.<lo|hi>.cc.<u64|s64> %rd9, %rd1, %rd2, %rd3; madc.<lo|hi>.@2 %rd0, %rd1, %rd2, %rd4;",
    "dp4a.<u32|s32>.<u32|s32> %r0, %r1, %r2, %r3;",
    // --- bits
    "<and|or|xor>.b16 %h0, %h1, %h2;",
    "<and|or|xor>.b32 %r0, %r1, %r2;",
    "<and|or|xor>.b64 %rd0, %rd1, %rd2;",
    "<and|or|xor>.pred %p0, %p1, %p2;",
    "not.b16 %h0, %h1;",
    "<not|cnot>.b32 %r0, %r1;",
    "<not|cnot>.b64 %rd0, %rd1;",
    "not.pred %p0, %p1;",
    "<shl.b16|shr.b16|shr.u16|shr.s16> %h0, %h1, %r2;",
    "<shl.b32|shr.b32|shr.u32|shr.s32> %r0, %r1, %r2;",
    "<shl.b64|shr.b64|shr.u64|shr.s64> %rd0, %rd1, %r2;",
    "shf.<l|r>.<clamp|wrap>.b32 %r0, %r1, %r2, %r3;",
    "bfe.<u32|s32> %r0, %r1, %r2, %r3;",
    "bfe.<u64|s64> %rd0, %rd1, %r2, %r3;",
    "bfi.b32 %r0, %r1, %r2, %r3, %r4;",
    "bfi.b64 %rd0, %rd1, %rd2, %r3, %r4;",
    "bmsk.<clamp|wrap>.b32 %r0, %r1, %r2;",
    "<brev|popc|clz>.b32 %r0, %r1;",
    "<popc|clz>.b64 %r0, %rd1;",
    "brev.b64 %rd0, %rd1;",
    "bfind<|.shiftamt>.<u32|s32> %r0, %r1;",
    "bfind<|.shiftamt>.<u64|s64> %r0, %rd1;",
    "lop3.b32 %r0, %r1, %r2, %r3, <0x00|0x01|0x17|0x1e|0x2a|0x3c|0x55|0x6a|0x80|0x96|0xca|0xe8|0xfe>;",
    "prmt.b32 %r0, %r1, %r2, %r3;",
    // --- floats
    "<add|sub|mul><|.rn|.rz|.rm|.rp><|.ftz><|.sat>.f32 %f0, %f1, %f2;",
    "<fma|mad><.rn|.rz|.rm|.rp><|.ftz><|.sat>.f32 %f0, %f1, %f2, %f3;",
    "<add|sub|mul><|.rn|.rz|.rm|.rp>.f64 %fd0, %fd1, %fd2;",
    "<fma|mad><.rn|.rz|.rm|.rp>.f64 %fd0, %fd1, %fd2, %fd3;",
    "div<.rn|.rz|.rm|.rp|.approx|.full><|.ftz>.f32 %f0, %f1, %f2;",
    "div<.rn|.rz|.rm|.rp>.f64 %fd0, %fd1, %fd2;",
    "<rcp|sqrt><.rn|.rz|.rm|.rp><|.ftz>.f32 %f0, %f1;",
    "<rcp|sqrt><.rn|.rz|.rm|.rp>.f64 %fd0, %fd1;",
    "<rcp|sqrt|rsqrt|ex2|lg2|sin|cos>.approx<|.ftz>.f32 %f0, %f1;",
    "tanh.approx.f32 %f0, %f1;",
    "<min|max><|.ftz><|.NaN>.f32 %f0, %f1, %f2;",
    "<min|max>.f64 %fd0, %fd1, %fd2;",
    "<abs|neg><|.ftz>.f32 %f0, %f1;",
    "<abs|neg>.f64 %fd0, %fd1;",
    "copysign.f32 %f0, %f1, %f2;",
    "copysign.f64 %fd0, %fd1, %fd2;",
    // --- 16 bits
    "<add|sub|mul><|.rn><|.sat>.f16 %h0, %h1, %h2;",
    "<add|sub|mul><|.rn><|.sat>.f16x2 %r0, %r1, %r2;",
    "<add|sub|mul><|.rn>.bf16 %h0, %h1, %h2;",
    "<add|sub|mul><|.rn>.bf16x2 %r0, %r1, %r2;",
    "fma.rn<|.sat|.relu>.f16 %h0, %h1, %h2, %h3;",
    "fma.rn<|.sat|.relu>.f16x2 %r0, %r1, %r2, %r3;",
    "fma.rn<|.relu>.bf16 %h0, %h1, %h2, %h3;",
    "fma.rn<|.relu>.bf16x2 %r0, %r1, %r2, %r3;",
    "<min|max><|.NaN>.<f16|bf16> %h0, %h1, %h2;",
    "<min|max><|.NaN>.<f16x2|bf16x2> %r0, %r1, %r2;",
    "<abs|neg>.<f16|bf16> %h0, %h1;",
    "<abs|neg>.<f16x2|bf16x2> %r0, %r1;",
    // --- comparisons and selections
    "setp.<eq|ne>.b16 %p0, %h1, %h2;",
    "setp.<eq|ne>.b32 %p0, %r1, %r2;",
    "setp.<eq|ne>.b64 %p0, %rd1, %rd2;",
    "setp.<eq|ne|lt|le|gt|ge>.<u16|s16> %p0, %h1, %h2;",
    "setp.<eq|ne|lt|le|gt|ge>.<u32|s32> %p0, %r1, %r2;",
    "setp.<eq|ne|lt|le|gt|ge>.<u64|s64> %p0, %rd1, %rd2;",
    "setp.<lo|ls|hi|hs>.u32 %p0, %r1, %r2;",
    "setp.<lo|ls|hi|hs>.u64 %p0, %rd1, %rd2;",
    "setp.<eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan><|.ftz>.f32 %p0, %f1, %f2;",
    "setp.<eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan>.f64 %p0, %fd1, %fd2;",
    "setp.<eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan>.<f16|bf16> %p0, %h1, %h2;",
    "setp.<lt|ge>.<and|or|xor>.s32 %p0|%p9, %r1, %r2, <%p3|!%p3>;",
    "setp.<lt|geu>.<and|or|xor>.f32 %p0|%p9, %f1, %f2, <%p3|!%p3>;",
    "selp.<b32|u32|s32> %r0, %r1, %r2, %p3;",
    "selp.<b64|u64|s64> %rd0, %rd1, %rd2, %p3;",
    "selp.b16 %h0, %h1, %h2, %p3;",
    "selp.f32 %f0, %f1, %f2, %p3;",
    "selp.f64 %fd0, %fd1, %fd2, %p3;",
    // --- moves
    "mov.b32 %r0, {%h1, %h2};",
    "mov.b64 %rd0, {%r1, %r2};",
    "mov.b64 %rd0, {%h1, %h2, %h3, %h4};",
    "mov.b64 {%r0, %r9}, %rd1;",
    // --- conversions between floats, and of pairs (those with integers: conversions())
    "cvt<.rn|.rz|.rm|.rp><|.ftz><|.sat>.f32.f64 %f0, %fd1;",
    "cvt<|.ftz><|.sat>.f64.f32 %fd0, %f1;",
    "cvt<|.rni|.rzi|.rmi|.rpi><|.ftz><|.sat>.f32.f32 %f0, %f1;",
    "cvt<|.rni|.rzi|.rmi|.rpi><|.sat>.f64.f64 %fd0, %fd1;",
    "cvt<|.rni|.rzi|.rmi|.rpi><|.sat>.f16.f16 %h0, %h1;",
    "cvt<.rn|.rz|.rm|.rp><|.ftz><|.sat>.f16.f32 %h0, %f1;",
    "cvt<.rn|.rz|.rm|.rp><|.sat>.f16.f64 %h0, %fd1;",
    "cvt<|.ftz><|.sat>.f32.f16 %f0, %h1;",
    "cvt<|.sat>.f64.f16 %fd0, %h1;",
    "cvt<|.ftz>.f32.bf16 %f0, %h1;",
    "cvt.f64.bf16 %fd0, %h1;",
    "cvt<.rn|.rz><|.relu><|.satfinite>.<f16|bf16>.f32 %h0, %f1;",
    "cvt<.rm|.rp>.bf16.f32 %h0, %f1;",
    "cvt<.rn|.rz|.rm|.rp>.bf16.f64 %h0, %fd1;",
    "cvt<.rn|.rz><|.relu><|.satfinite>.<f16x2|bf16x2>.f32 %r0, %f1, %f2;",
    "cvt.rn.satfinite<|.relu>.<e4m3x2|e5m2x2>.f32 %h0, %f1, %f2;",
    "cvt.rn.satfinite<|.relu>.<e4m3x2|e5m2x2>.f16x2 %h0, %r1;",
    "cvt.rn<|.relu>.f16x2.<e4m3x2|e5m2x2> %r0, %h1;",
    "cvt<.rna|.rna.satfinite|.rn|.rz|.rn.relu|.rz.relu>.tf32.f32 %r0, %f1;",
    // --- lanes.  Note: few values match, so these have few bits.
    "shfl.sync.<up|down|bfly|idx>.b32 %r0|%p9, %r1, %r2, %r3, 0xffffffff;",
    "shfl.sync.<up|down|bfly|idx>.b32 %r0, %r1, 1, <0|0x1f|0x181f|0x1c00>, 0xffffffff;",
    "vote.sync.<all|any|uni>.pred %p0, <%p1|!%p1>, 0xffffffff;",
    "vote.sync.ballot.b32 %r0, <%p1|!%p1>, 0xffffffff;",
    "redux.sync.<add|min|max>.<u32|s32> %r0, %r1, 0xffffffff;",
    "redux.sync.<and|or|xor>.b32 %r0, %r1, 0xffffffff;",
    "and.b32 %r1, %r1, 3; match.any.sync.b32 %r0, %r1, 0xffffffff;",
    "and.b64 %rd1, %rd1, 3; match.any.sync.b64 %r0, %rd1, 0xffffffff;",
    "bfe.u32 %r1, %r10, 10, 1; match.all.sync.b32 %r0|%p9, %r1, 0xffffffff;",
    "elect.sync %r0|%p9, 0xffffffff;",
    "activemask.b32 %r0;",
    // --- memory
    "st.global.b64 [%rd20], %rd1; ld.global.<u8|s8> %r0, [%rd20+3];",
    "st.global.b64 [%rd20], %rd1; ld.global.<u16|s16> %r0, [%rd20+2];",
    "st.global.b64 [%rd20], %rd1; ld.global.<u8|s8|u16|s16|u32|s32> %rd0, [%rd20+4];",
    "st.global.b64 [%rd20], %rd1; st.global.b8 [%rd20+5], %r2; ld.global.v2.u32 {%r0, %r10}, [%rd20];",
    "st.global.b64 [%rd20], %rd1; st.global.v4.b16 [%rd20], {%h2, %h1, %h3, %h4}; ld.global.u64 %rd0, [%rd20];",
    "st.shared.v2.b32 [%r20], {%r1, %r2}; ld.shared.u64 %rd0, [%r20];",
    "st.global.b64 [%rd20], %rd1; atom.global.<add|min|max|inc|dec>.u32 %r0, [%rd20], %r2;",
    "st.global.b64 [%rd20], %rd1; atom.global.<add|min|max>.s32 %r0, [%rd20], %r2;",
    "st.global.b64 [%rd20], %rd1; atom.global.<and|or|xor|exch>.b32 %r0, [%rd20], %r2;",
    "st.global.b64 [%rd20], %rd1; atom.global.<add|min|max>.u64 %rd0, [%rd20], %rd2;",
    "st.global.b64 [%rd20], %rd1; atom.global.<min|max>.s64 %rd0, [%rd20], %rd2;",
    "st.global.b64 [%rd20], %rd1; atom.global.<and|or|xor|exch>.b64 %rd0, [%rd20], %rd2;",
    "and.b32 %r1, %r1, 1; and.b32 %r2, %r2, 1; st.global.b64 [%rd20], %rd1; st.global.b32 [%rd20], %r1;"
    " atom.global.cas.b32 %r0, [%rd20], %r2, %r3;",
    "and.b64 %rd1, %rd1, 1; and.b64 %rd2, %rd2, 1; st.global.b64 [%rd20], %rd1; atom.global.cas.b64 %rd0, [%rd20], %rd2, %rd3;",
    "st.global.b64 [%rd20], %rd1; atom.global.add.f32 %f0, [%rd20], %f2;",
    "st.global.b64 [%rd20], %rd1; atom.global.add.f64 %fd0, [%rd20], %fd2;",
    "st.global.b64 [%rd20], %rd1; red.global.<add.u32|min.s32|max.u32|inc.u32|xor.b32> [%rd20], %r2; mov.u32 %r0, %r1;",
    "st.shared.b64 [%r20], %rd1; atom.shared.<add.u32|min.s32|max.u32|inc.u32|dec.u32|exch.b32> %r0, [%r20], %r2;"
    " ld.shared.u32 %r9, [%r20];",
    "st.shared.b64 [%r20], %rd1; atom.shared.add.f32 %f0, [%r20], %f2; ld.shared.u32 %r9, [%r20];",
};

// Appends each way to fill in what `rest` leaves open.  `taken`: the words of the groups so far.
void expand(const std::string& begun, std::string_view rest, std::vector<std::string>& taken, std::vector<std::string>& all) {
  const std::size_t at = rest.find_first_of("<@");
  if (at == rest.npos) {
    all.push_back(begun + std::string(rest));
    return;
  }
  const std::string before = begun + std::string(rest.substr(0, at));
  if (rest[at] == '@')
    return expand(before + taken[static_cast<std::size_t>(rest[at + 1] - '1')], rest.substr(at + 2), taken, all);
  const std::size_t end = rest.find('>', at);
  std::string_view words = rest.substr(at + 1, end - at - 1);
  for (bool more = true; more;) {
    const std::size_t bar = words.find('|');
    // Note: in %p0|%p9 the bar is PTX, and stands in no group.
    taken.emplace_back(words.substr(0, bar));
    expand(before + taken.back(), rest.substr(end + 1), taken, all);
    taken.pop_back();
    more = bar != words.npos;
    if (more) words.remove_prefix(bar + 1);
  }
}

struct Named {
  std::string_view type, name;  // of the registers that hold it
  int bits;
  bool with_sign = true;
};
constexpr Named kIntegers[] = {{"u8", "r", 8, false},   {"s8", "r", 8},   {"u16", "h", 16, false},  {"s16", "h", 16},
                               {"u32", "r", 32, false}, {"s32", "r", 32}, {"u64", "rd", 64, false}, {"s64", "rd", 64}};
constexpr Named kReals[] = {{"f16", "h", 16}, {"bf16", "h", 16}, {"f32", "f", 32}, {"f64", "fd", 64}};

// Whether every value of `from` is one of `to`, so that PTX knows no saturating conversion.
bool within(const Named& from, const Named& to) {
  return from.with_sign == to.with_sign ? from.bits <= to.bits : to.with_sign && from.bits < to.bits;
}

// Conversions of integers to integers, of floats to integers, and back.
void conversions(std::vector<std::string>& all) {
  const auto add = [&](std::string_view modifiers, const Named& to, const Named& from) {
    all.push_back(fmt::format("cvt{}.{}.{} %{}0, %{}1;", modifiers, to.type, from.type, to.name, from.name));
  };
  for (const Named& to : kIntegers)
    for (const Named& from : kIntegers)
      if (to.type != from.type) {
        add("", to, from);
        if (!within(from, to)) add(".sat", to, from);
      }
  for (const Named& integer : kIntegers)
    for (const Named& real : kReals) {
      if (real.type == "bf16" && integer.bits == 8) continue;  // PTX has none
      for (const char* mode : {".rni", ".rzi", ".rmi", ".rpi"})
        for (const char* ftz : {"", ".ftz"})
          if (*ftz == 0 || real.type == "f32") add(std::string(mode) + ftz, integer, real);
      for (const char* mode : {".rn", ".rz", ".rm", ".rp"}) add(mode, real, integer);
    }
}

}  // namespace

std::vector<std::string> ptx_forms() {
  std::vector<std::string> all, taken;
  for (const std::string_view pattern : kPatterns) expand("", pattern, taken, all);
  conversions(all);
  return all;
}

std::string ptx_module_of(const std::string& form) {
  const auto has = [&](const char* name) { return form.find(name) != form.npos; };
  const char* const result = has("%rd0")   ? ""
                             : has("%fd0") ? "mov.b64 %rd0, %fd0;"
                             : has("%f0")  ? "mov.b32 %r0, %f0; cvt.u64.u32 %rd0, %r0;"
                             : has("%h0")  ? "cvt.u64.u16 %rd0, %h0;"
                             : has("%p0")  ? "selp.b64 %rd0, 1, 0, %p0;"
                                           : "cvt.u64.u32 %rd0, %r0;";
  const char* const second = has("%p9")    ? "selp.b64 %rd9, 1, 0, %p9; st.global.u64 [%rd20], %rd9;"
                             : has("%r9")  ? "cvt.u64.u32 %rd9, %r9; st.global.u64 [%rd20], %rd9;"
                             : has("%rd9") ? "st.global.u64 [%rd20], %rd9;"
                                           : "";
  return fmt::format(R"(.version 8.6
.target sm_90
.address_size 64
.visible .entry probe(.param .u64 inputs, .param .u64 results)
{{
.reg .pred %p<11>; .reg .b16 %h<11>; .reg .b32 %r<21>; .reg .f32 %f<11>; .reg .b64 %rd<21>; .reg .f64 %fd<11>;
.shared .align 8 .b8 kept[{}];
ld.param.u64 %rd11, [inputs]; ld.param.u64 %rd12, [results];
mov.u32 %r11, %ctaid.x; mov.u32 %r12, %tid.x; mad.lo.s32 %r10, %r11, {}, %r12;
mul.wide.u32 %rd13, %r10, 32; add.s64 %rd11, %rd11, %rd13;
mul.wide.u32 %rd13, %r10, 16; add.s64 %rd12, %rd12, %rd13; add.s64 %rd20, %rd12, 8;
mov.u32 %r13, kept; shl.b32 %r14, %r12, 3; add.s32 %r20, %r13, %r14;
ld.global.u64 %rd1, [%rd11]; ld.global.u64 %rd2, [%rd11+8]; ld.global.u64 %rd3, [%rd11+16]; ld.global.u64 %rd4, [%rd11+24];
cvt.u32.u64 %r1, %rd1; cvt.u32.u64 %r2, %rd2; cvt.u32.u64 %r3, %rd3; cvt.u32.u64 %r4, %rd4;
cvt.u16.u64 %h1, %rd1; cvt.u16.u64 %h2, %rd2; cvt.u16.u64 %h3, %rd3; cvt.u16.u64 %h4, %rd4;
mov.b32 %f1, %r1; mov.b32 %f2, %r2; mov.b32 %f3, %r3; mov.b64 %fd1, %rd1; mov.b64 %fd2, %rd2; mov.b64 %fd3, %rd3;
and.b32 %r15, %r1, 1; setp.ne.u32 %p1, %r15, 0; and.b32 %r15, %r2, 1; setp.ne.u32 %p2, %r15, 0;
and.b32 %r15, %r3, 1; setp.ne.u32 %p3, %r15, 0;
{}
{}
{}
st.global.u64 [%rd12], %rd0;
ret;
}}
)",
                     8 * kPtxThreads, kPtxThreads, form, result, second);
}

}  // namespace assay
