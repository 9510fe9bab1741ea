// SPDX-License-Identifier: Apache-2.0
// The PTX door: parsing, refusals, control flow, findings.
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "ptx/ptx.hpp"
#include "ptx_testing.hpp"

namespace {

using namespace simt::testing;
namespace ptx = simt::ptx;

TEST_CASE("ptx: what is no module is refused with its line", "[simt][ptx]") {
  const auto why = [](const std::string& text) {
    try {
      ptx::parse(text, "k.ptx");
    } catch (const ptx::Refused& e) {
      return std::string(e.what());
    }
    return std::string("nothing");
  };
  CHECK(why("") == "k.ptx:1: a PTX module begins with .version, not the end of the text");
  CHECK(why(".version 8.0\n.target sm_80\nfoo") == "k.ptx:3: a function or a variable was expected, not 'foo'");
  CHECK(why(".version 8.0\n.target sm_80\n.address_size 32\n") == "k.ptx:4: only an address size of 64 is taken");
  CHECK(why(kPtxHead + ".entry k() {\n") == "k.ptx:5: the function 'k' has no end");
  CHECK(why(kPtxHead + ".entry k() {\n@%p bra L;\n}") == "k.ptx:5: '%p' is no predicate");
  CHECK(why(kPtxHead + ".entry k() {\n.reg .b32 %r<99999999>;\n}") == "k.ptx:5: the function has too many registers");
  CHECK(why(kPtxHead + ".shared .b8 a[999999999999];\n") == "k.ptx:4: the variable 'a' has more than 2^28 elements");
  CHECK(why(kPtxHead + std::string(100, '{')) == "k.ptx:4: a function or a variable was expected, not '{'");
  CHECK(why(kPtxHead + ".entry k() {\n" + std::string(100, '{')) == "k.ptx:5: scopes nest too deeply");
  CHECK(why(kPtxHead + "/* no end") == "k.ptx:4: a comment has no end");
}

TEST_CASE("ptx: an instruction that the machine does not run is refused before anything runs", "[simt][ptx]") {
  const auto why = [](const std::string& body) {
    try {
      Entry("", ".reg .b32 %r<9>; .reg .pred %p<3>; .reg .f32 %f<9>;\n" + body);
    } catch (const ptx::Refused& e) {
      return std::string(e.what());
    }
    return std::string("nothing");
  };
  CHECK(why("add.s32 %r1, %r2, %r3;") == "nothing");
  CHECK(why("tcgen05.wait::ld.sync.aligned;") ==
        "k.ptx:7: `tcgen05.wait::ld.sync.aligned` is no instruction that the machine runs");
  CHECK(why("add.s32 %r1, %r2;") == "k.ptx:7: `add.s32` has 2 operands");
  CHECK(why("add.s32 %r1, %r2, %p1;") == "k.ptx:7: `add.s32` reads a register of 1 bits as one of 32");
  CHECK(why("add.unheard.s32 %r1, %r2, %r3;") ==
        "k.ptx:7: `add.unheard.s32` has the modifier .unheard, which the machine does not run");
  CHECK(why("add.f32 %f1, %f2, 1;") == "k.ptx:7: `add.f32` has an integer where a float was expected");
  CHECK(why("bmsk.b32 %r1, %r2, %r3;") == "k.ptx:7: `bmsk.b32` is not run in this form");
  CHECK(why("bra NOWHERE;") == "k.ptx:7: `bra` goes to 'NOWHERE', which is no label of the function");
  CHECK(why("mov.u32 %r1, %clock;") == "k.ptx:7: `mov.u32` reads a clock, which this machine has not");
  CHECK(why("cp.async.wide.commit_group;") ==
        "k.ptx:7: `cp.async.wide.commit_group` has the modifier .wide, which the machine does not run");
}

// Each lane takes its own number of rounds, and all meet behind the loop, where a shuffle of all lanes works.
TEST_CASE("ptx: lanes that leave a loop at different times meet behind it", "[simt][ptx]") {
  const Entry loop("out", R"(
  .reg .b32 %r<9>; .reg .b64 %rd<5>; .reg .pred %p<3>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, 0;
  mov.u32 %r3, 0;
LOOP:
  setp.ge.u32 %p1, %r2, %r1;
  @%p1 bra DONE;
  add.u32 %r2, %r2, 1;
  add.u32 %r3, %r3, %r2;
  bra LOOP;
DONE:
  shfl.sync.bfly.b32 %r4, %r3, 1, 31, -1;
  mul.wide.u32 %rd2, %r1, 4;
  add.s64 %rd3, %rd1, %rd2;
  st.global.u32 [%rd3], %r4;
  ret;)");
  for (const simt::ThreadOrder order : kOrders) {
    const Configured on({.order = order, .seed = 3, .watch = true});
    const Buffer<unsigned> out(50);
    loop.run(1, 50, out.get());
    for (unsigned i = 0; i < 50; ++i) CHECK(out[i] == (i ^ 1) * ((i ^ 1) + 1) / 2);
  }
}

// Each round has two ways that meet, twice, before a long loop.  So the warp's turn ends there, again and again, and at last it
// is taken to wait in vain.
TEST_CASE("ptx: lanes that met are not run again when others lose patience", "[simt][ptx]") {
  const Entry loop("out", R"(
  .reg .b32 %r<9>; .reg .b64 %rd<5>; .reg .pred %p<3>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %tid.x;
  and.b32 %r2, %r1, 1;
  setp.eq.u32 %p1, %r2, 0;
  mov.u32 %r3, 0;
  mov.u32 %r4, 0;
LOOP:
  @%p1 bra EVEN;
  add.u32 %r4, %r4, 3;
  bra BOTH;
EVEN:
  add.u32 %r4, %r4, 5;
BOTH:
  @%p1 bra EVEN_AGAIN;
  add.u32 %r4, %r4, 1;
  bra BOTH_AGAIN;
EVEN_AGAIN:
  add.u32 %r4, %r4, 2;
BOTH_AGAIN:
  mov.u32 %r5, 0;
LONG:
  add.u32 %r5, %r5, 1;
  setp.lt.u32 %p2, %r5, 5600;
  @%p2 bra LONG;
  add.u32 %r3, %r3, 1;
  setp.lt.u32 %p2, %r3, 200;
  @%p2 bra LOOP;
  mul.wide.u32 %rd2, %r1, 4;
  add.s64 %rd1, %rd1, %rd2;
  st.global.u32 [%rd1], %r4;
  ret;)");
  for (const simt::ThreadOrder order : kOrders) {
    const Configured on({.order = order, .seed = 1});
    const Buffer<unsigned> out(32);
    loop.run(1, 32, out.get());
    for (unsigned i = 0; i < 32; ++i) CHECK(out[i] == 200 * (i % 2 == 0 ? 7 : 4));
  }
}

// A lane waits in a loop for another lane of its warp to write; the parts of the warp take turns.
TEST_CASE("ptx: diverged parts of a warp that wait for each other take turns", "[simt][ptx]") {
  const Entry spin("flag", R"(
  .reg .b32 %r<9>; .reg .b64 %rd<5>; .reg .pred %p<3>;
  ld.param.u64 %rd1, [flag];
  mov.u32 %r1, %tid.x;
  setp.eq.u32 %p1, %r1, 0;
  @%p1 bra WAIT;
  setp.ne.u32 %p2, %r1, 31;
  @%p2 bra END;
  atom.global.exch.b32 %r2, [%rd1], 7;
  bra END;
WAIT:
  atom.global.add.u32 %r3, [%rd1], 0;
  setp.ne.u32 %p2, %r3, 7;
  @%p2 bra WAIT;
END:
  ret;)");
  for (const simt::ThreadOrder order : kOrders) {
    const Configured on({.order = order, .seed = 1});
    const Buffer<unsigned> flag(1);
    spin.run(1, 32, flag.get());
    CHECK(flag[0] == 7);
  }
}

// Each lane takes a lock and gives it back behind the loop in which the others wait for it.
TEST_CASE("ptx: a lane that holds a lock goes on while the others of its warp wait for it", "[simt][ptx]") {
  const Entry locked("lock count", R"(
  .reg .b32 %r<9>; .reg .b64 %rd<5>; .reg .pred %p<3>;
  ld.param.u64 %rd1, [lock];
  ld.param.u64 %rd2, [count];
WAIT:
  atom.global.cas.b32 %r1, [%rd1], 0, 1;
  setp.ne.u32 %p1, %r1, 0;
  @%p1 bra WAIT;
  ld.volatile.global.u32 %r2, [%rd2];
  add.u32 %r2, %r2, 1;
  st.volatile.global.u32 [%rd2], %r2;
  atom.global.exch.b32 %r3, [%rd1], 0;
  ret;)");
  const Buffer<unsigned> lock(1), count(1);
  locked.run(1, 40, lock.get(), count.get());
  CHECK(count[0] == 40);
}

TEST_CASE("ptx: a branch within a branch whose threads end leaves the others together", "[simt][ptx]") {
  const Entry ends("out", R"(
  .reg .b32 %r<9>; .reg .b64 %rd<5>; .reg .pred %p<3>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %tid.x;
  setp.lt.u32 %p1, %r1, 16;
  @!%p1 bra JOIN;
  and.b32 %r2, %r1, 1;
  setp.eq.u32 %p2, %r2, 0;
  @%p2 bra OUT;
  mov.u32 %r3, 5;
JOIN:
  activemask.b32 %r4;
  mul.wide.u32 %rd2, %r1, 4;
  add.s64 %rd3, %rd1, %rd2;
  st.global.u32 [%rd3], %r4;
OUT:
  ret;)");
  const Buffer<unsigned> out(32);
  ends.run(1, 32, out.get());
  for (unsigned i = 0; i < 32; ++i) CHECK(out[i] == (i < 16 && i % 2 == 0 ? 0u : 0xffffaaaau));
}

const char* const kSwap = R"(
  .reg .b32 %r<9>; .reg .b64 %rd<5>;
  .shared .align 4 .b8 s[256];
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, s;
  shl.b32 %r3, %r1, 2;
  add.u32 %r4, %r2, %r3;
  st.shared.u32 [%r4], %r1;
  BARRIER
  xor.b32 %r5, %r3, 128;
  add.u32 %r6, %r2, %r5;
  ld.shared.u32 %r7, [%r6];
  mul.wide.u32 %rd2, %r1, 4;
  add.s64 %rd3, %rd1, %rd2;
  st.global.u32 [%rd3], %r7;
  ret;)";

Entry swap_with(const std::string& barrier) {
  std::string text = kSwap;
  text.replace(text.find("BARRIER"), 7, barrier);
  return Entry("out", text);
}

TEST_CASE("ptx: a barrier orders, and a missing one is a race", "[simt][ptx]") {
  const Entry right = swap_with("bar.sync 0;"), named = swap_with("bar.sync 3, 64;"), wrong = swap_with("bar.warp.sync -1;");
  for (const simt::ThreadOrder order : kOrders) {
    const Configured on({.order = order, .seed = 1, .watch = true});
    const Buffer<unsigned> out(64);
    for (const Entry* const sound : {&right, &named}) {
      sound->run(1, 64, out.get());
      for (unsigned i = 0; i < 64; ++i) CHECK(out[i] == (i ^ 32));
    }
    const simt::Finding f = finding_of([&] { wrong.run(1, 64, out.get()); });
    CHECK(f.kind == "shared_race");
    CHECK(f.file == "k.ptx");
  }
}

TEST_CASE("ptx: accesses out of bounds, of memory that nobody wrote, and barriers that some miss are found", "[simt][ptx]") {
  const auto found = [](const std::string& body, unsigned threads) {
    const Configured on({.watch = true});
    const Buffer<unsigned> out(32);
    const Entry entry("out",
                      ".reg .b32 %r<9>; .reg .b64 %rd<5>; .reg .pred %p<3>; .shared .align 4 .b8 s[128];\n"
                      "ld.param.u64 %rd1, [out];\nmov.u32 %r1, %tid.x;\nmul.wide.u32 %rd2, %r1, 4;\nadd.s64 %rd3, %rd1, %rd2;\n" +
                          body);
    return finding_of([&] { entry.run(1, threads, out.get()); });
  };
  CHECK(found("st.global.u32 [%rd3], %r1; ret;", 32).kind == "none");
  const simt::Finding beyond = found("st.global.u32 [%rd3+4], %r1; ret;", 32);
  CHECK(beyond.kind == "out_of_bounds");
  CHECK(says(beyond, "write of 4 bytes ending 4 bytes past the end of 'buffer'"));
  CHECK(says(beyond, "thread (31, 0, 0)"));
  CHECK(beyond.line == 11);
  CHECK(found("st.global.u32 [%rd3+2], %r1; ret;", 8).kind == "misaligned");
  CHECK(found("ld.shared.u32 %r2, [s+128]; ret;", 1).kind == "shared_overflow");
  CHECK(found("ld.shared.u32 %r2, [s]; ret;", 1).kind == "uninitialised");
  CHECK(found("setp.lt.u32 %p1, %r1, 32; @%p1 bra END; bar.sync 0; END: ret;", 64).kind == "barrier_divergence");
  CHECK(found("setp.lt.u32 %p1, %r1, 16; @%p1 bra A; bar.sync 0; bra B; A: bar.sync 0; B: ret;", 32).kind ==
        "barrier_divergence");
  CHECK(found("setp.lt.u32 %p1, %r1, 16; @%p1 shfl.sync.idx.b32 %r2, %r1, 0, 31, -1; ret;", 32).kind == "bad_shuffle");
  CHECK(found("mov.u64 %rd1, 0; st.global.u32 [%rd1], %r1; ret;", 1).kind == "out_of_bounds");
  CHECK(found("trap;", 1).kind == "trap");
}

// 40 threads read neighbouring words, every third word and one word, and write every second word.
TEST_CASE("ptx: bytes are counted alike whether a warp's accesses are checked at once or one by one", "[simt][ptx]") {
  const Entry entry("in out", R"(
  .reg .b32 %r<9>; .reg .b64 %rd<9>;
  ld.param.u64 %rd1, [in];
  ld.param.u64 %rd2, [out];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd3, %r1, 4;
  add.s64 %rd4, %rd1, %rd3;
  ld.global.u32 %r2, [%rd4];
  mad.wide.u32 %rd5, %r1, 12, %rd1;
  ld.global.u32 %r3, [%rd5];
  ld.global.u32 %r4, [%rd1];
  mad.wide.u32 %rd6, %r1, 8, %rd2;
  st.global.u32 [%rd6], %r2;
  ret;)");
  for (const bool watch : {false, true}) {
    const Configured on({.watch = watch});
    const Buffer<unsigned> in(120), out(80);
    simt::reset_counts();
    entry.run(1, 40, in.get(), out.get());
    CHECK(in.counts().read_bytes == 40 * 12);
    CHECK(in.counts().unique_read_bytes == 4 * (40 + 40 - 14));
    CHECK(in.counts().written_bytes == 0);
    CHECK(out.counts().written_bytes == 40 * 4);
    CHECK(out.counts().unique_written_bytes == 40 * 4);
  }
}

TEST_CASE("ptx: stores of equal bytes are no race, by one instruction or by several; other bytes are one", "[simt][ptx]") {
  const auto found = [](const std::string& body, unsigned threads) {
    const Configured on({.watch = true});
    const Buffer<unsigned> out(2);
    const Entry entry("out",
                      ".reg .b32 %r<9>; .reg .b64 %rd<5>; .reg .pred %p<3>; .shared .align 8 .b8 s[64];\n"
                      "ld.param.u64 %rd1, [out];\nmov.u32 %r1, %tid.x;\nshr.u32 %r2, %r1, 5;\nmov.u32 %r3, 5;\n" +
                          body + "\nret;");
    return finding_of([&] { entry.run(1, threads, out.get()); }).kind;
  };
  // by lanes of one instruction
  CHECK(found("st.global.u32 [%rd1], 5;", 32) == "none");
  CHECK(found("st.global.u32 [%rd1], %r1;", 32) == "global_race");
  // by two warps, by two instructions of one warp, and of parts of what was stored
  CHECK(found("st.global.u32 [%rd1], 5;", 64) == "none");
  CHECK(found("st.global.u32 [%rd1], %r2;", 64) == "global_race");
  CHECK(found("st.shared.u32 [s], 7; setp.eq.u32 %p1, %r1, 3; @%p1 st.shared.u32 [s], 7;", 32) == "none");
  CHECK(found("st.shared.u32 [s], 7; setp.eq.u32 %p1, %r1, 3; @%p1 st.shared.u32 [s], 8;", 32) == "shared_race");
  CHECK(found("st.shared.v2.u32 [s], {%r3, 9}; st.shared.u32 [s+4], 9;", 64) == "none");
  CHECK(found("st.shared.v2.u32 [s], {%r3, 9}; st.shared.u32 [s+4], 8;", 64) == "shared_race");
  // with a read between, by the lane that wrote
  CHECK(found("st.global.u32 [%rd1], 5; ld.global.u32 %r4, [%rd1];", 64) == "global_race");
  // of a word that an atomic operation has left
  CHECK(found("atom.global.exch.b32 %r4, [%rd1], 5; st.global.u32 [%rd1], 5;", 32) == "global_race");
}

TEST_CASE("ptx: an entry rests on the lowest fidelity of its instructions", "[simt][ptx]") {
  const auto rests = [](const std::string& body) {
    const Entry entry("", ".reg .f32 %f<9>; .reg .pred %p<3>;\n" + body);
    const ptx::Rests& r = entry.program().rests;
    return std::to_string(static_cast<int>(r.on)) + " " + r.opcode + " " + std::to_string(r.line);
  };
  CHECK(rests("fma.rn.f32 %f1, %f2, %f3, %f4; mul.rn.f32 %f5, %f1, %f2; add.f32 %f6, %f5, %f1;") == "0  0");
  CHECK(rests("mul.f32 %f5, %f1, %f2;\nadd.rn.f32 %f6, %f5, %f1;\nadd.f32 %f7, %f6, %f1;") == "0  0");
  CHECK(rests("mul.f32 %f5, %f1, %f2;\nsub.f32 %f6, %f1, %f5;") == "1 sub.f32 8");
  CHECK(rests("L: add.f32 %f6, %f7, %f1;\nmul.f32 %f5, %f1, %f2;\nmov.f32 %f7, %f5;\n@%p1 bra L;") == "1 add.f32 7");
  CHECK(rests("mul.f32 %f5, %f1, %f2;\nsub.f32 %f6, %f1, %f5;\nsin.approx.f32 %f1, %f2;") == "2 sin.approx.f32 9");
  CHECK(rests("div.full.f32 %f5, %f1, %f2;") == "0  0");

  const Entry sums("", ".reg .f32 %f<3>; .reg .b64 %rd<3>;\nred.global.add.u32 [%rd1], 1;\nred.global.add.f32 [%rd1], %f1;");
  CHECK(ptx::in_words(sums.program().unordered, *sums.program().module) ==
        "; `red.global.add.f32` (k.ptx:8) adds floats in no fixed order");
}

TEST_CASE("ptx: sums in 16 bits and products of TF32 are told apart from others", "[simt][ptx]") {
  const auto narrowed = [](const std::string& body) {
    const Entry entry("", ".reg .f32 %f<20>; .reg .b32 %r<20>; .reg .b16 %h<9>;\n" + body);
    const ptx::Narrowed& n = entry.program().narrowed;
    return n.sum + " " + std::to_string(n.sum_line) + " " + n.product + " " + std::to_string(n.product_line);
  };
  CHECK(narrowed("add.f32 %f1, %f2, %f3; mul.f16x2 %r1, %r2, %r3;") == " 0  0");
  CHECK(narrowed("add.f32 %f1, %f2, %f3;\nadd.f16x2 %r1, %r2, %r3;") == "add.f16x2 8  0");
  CHECK(narrowed("mov.b32 %r4, 0x80008000;\nfma.rn.bf16x2 %r1, %r2, %r3, %r4;") == " 0  0");
  CHECK(narrowed("fma.rn.bf16x2 %r1, %r2, %r3, %r1;") == "fma.rn.bf16x2 7  0");
  CHECK(narrowed("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%f1, %f2, %f3, %f4}, {%r1, %r2, %r3, %r4}, {%r5, %r6}, "
                 "{%f1, %f2, %f3, %f4};") == " 0 mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 7");
}

}  // namespace
