// SPDX-License-Identifier: Apache-2.0
// The asynchronous instructions of sm_90a through the PTX door: right results in every order, and a finding for each wrong use.
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "device_hopper.hpp"
#include "ptx_hopper_testing.hpp"

namespace {

using namespace simt::testing;
using simt::device::half;
using simt::device::TensorMap;
namespace ptx = simt::ptx;

const std::string kRow = "@!%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%rd1], 256, [%r3];\n";
// Thread t stores the word t of s.
const std::string kOut = R"(
  ld.param.u64 %rd2, [y];
  shl.b32 %r4, %r1, 2;
  add.u32 %r5, %r2, %r4;
  ld.shared.u32 %r6, [%r5];
  cvt.u64.u32 %rd3, %r4;
  add.u64 %rd4, %rd2, %rd3;
  st.global.u32 [%rd4], %r6;
)";

TEST_CASE("ptx: a row of bytes is copied in, and out, and added, in every order", "[simt][ptx][hopper]") {
  const Entry in("x y", barrier() + kX + expecting(256) + kRow + kWait + kOut + "ret;");
  const Entry out("x y", kRegisters + R"(.shared .align 128 .b8 s[256];
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, s;
  ld.param.u64 %rd1, [x];
  ld.param.u64 %rd2, [y];
  shl.b32 %r4, %r1, 2;
  cvt.u64.u32 %rd3, %r4;
  add.u64 %rd4, %rd1, %rd3;
  ld.global.u32 %r6, [%rd4];
  add.u32 %r5, %r2, %r4;
  st.shared.u32 [%r5], %r6;
  fence.proxy.async.shared::cta;
  bar.sync 0;
  setp.ne.u32 %p1, %r1, 0;
  @%p1 bra END;
  cp.async.bulk.global.shared::cta.bulk_group [%rd2], [%r2], 256;
  cp.async.bulk.commit_group;
  cp.async.bulk.wait_group 0;
  cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%rd2+16], [%r2], 32;
  cp.async.bulk.commit_group;
  cp.async.bulk.wait_group.read 0;
END:
  ret;)");
  for (const simt::ThreadOrder order : kOrders) {
    const Configured on({.order = order, .seed = 3, .time_limit_s = kHang_s, .watch = true});
    const Buffer<float> x(64), y(64), z(64);
    for (unsigned i = 0; i < 64; ++i) x[i] = static_cast<float>(i + 1);
    in.run(1, 64, x.get(), y.get());
    out.run(1, 64, x.get(), z.get());
    for (unsigned i = 0; i < 64; ++i) {
      CHECK(y[i] == x[i]);
      CHECK(z[i] == x[i] + (i >= 4 && i < 12 ? x[i - 4] : 0));
    }
  }
}

// The coordinates begin outside the tensor, so the box has zeros at its start.
TEST_CASE("ptx: boxes of tensors of rank 1 to 5 are copied in and out", "[simt][ptx][hopper]") {
  for (int rank = 1; rank <= 5; ++rank) {
    std::string at, named;
    for (int d = 0; d < rank; ++d) at += d == 0 ? "%r20" : ", %r21";
    const std::string n = std::to_string(rank) + "d";
    const Entry entry("in out", barrier() + R"(
  ld.param.u64 %rd1, [in];
  ld.param.u64 %rd2, [out];
  prefetch.tensormap [%rd1];
  mov.u32 %r20, -8;
  mov.u32 %r21, -1;
  elect.sync _|%p2, -1;
  setp.lt.u32 %p3, %r1, 32;
  and.pred %p2, %p2, %p3;
  @%p2 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r3], )" +
                                    std::to_string(32 << (rank - 1)) + R"(;
  @%p2 cp.async.bulk.tensor.)" + n + ".shared::cta.global.tile.mbarrier::complete_tx::bytes [%r2], [%rd1, {" +
                                    at + "}], [%r3];" + kWait + "@%p2 cp.async.bulk.tensor." + n +
                                    ".global.shared::cta.tile.bulk_group [%rd2, {" + at +
                                    R"(}], [%r2];
  @%p2 cp.async.bulk.commit_group;
  @%p2 cp.async.bulk.wait_group 0;
  ret;)");
    for (const simt::ThreadOrder order : kOrders) {
      const Configured on({.order = order, .seed = 2, .time_limit_s = kHang_s, .watch = true});
      const std::size_t elements = std::size_t{16} << 2 * (rank - 1);
      const Buffer<half> x(elements), y(elements);
      for (std::size_t i = 0; i < elements; ++i) x[i] = half{static_cast<std::uint16_t>(i + 1)};
      const std::int64_t extents[] = {16, 4, 4, 4, 4}, strides[] = {32, 128, 512, 2048};
      const int box[] = {16, 2, 2, 2, 2};
      const auto map = [&](half* p) {
        return simt::detail::make_tensor_map(p, 2, false, extents, strides, box, rank, simt::device::Swizzle::none);
      };
      const Buffer<TensorMap> maps(2);
      maps[0] = map(x.get());
      maps[1] = map(y.get());
      entry.run(1, 64, maps.get(), maps.get() + 1);
      for (std::size_t i = 0; i < elements; ++i) {
        const bool inside = i % 16 < 8 && (rank == 1 || i / 16 == 0);  // rows 0 of all further axes
        CHECK(y[i].bits == (inside ? x[i].bits : 0));
      }
    }
  }
}

TEST_CASE("ptx: a tensor map made in memory serves after its fences", "[simt][ptx][hopper]") {
  const auto replaced = [](const std::string& acquire, const std::string& steps = "1") {
    return kRegisters + R"(.shared .align 1024 .b8 s[1024];
  .shared .align 128 .b8 m[128];
  .shared .align 8 .b64 b;
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, s;
  mov.u32 %r3, b;
  mov.u32 %r7, m;
  ld.param.u64 %rd1, [x];
  ld.param.u64 %rd5, [map];
  shl.b32 %r4, %r1, 2;
  add.u32 %r5, %r7, %r4;
  mov.u32 %r6, 0;
  st.shared.u32 [%r5], %r6;
  bar.warp.sync -1;
  setp.ne.u32 %p1, %r1, 0;
  @%p1 bra MADE;
  cvt.u64.u32 %rd7, %r7;
  tensormap.replace.tile.global_address.shared::cta.b1024.b64 [%rd7], %rd1;
  tensormap.replace.tile.rank.shared::cta.b1024.b32 [%rd7], 0x1;
  tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [%rd7], 0x0, 8;
  tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [%rd7], 0x1, 4;
  tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%rd7], 0x0, 8;
  tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%rd7], 0x1, 4;
  mov.u64 %rd8, 32;
  tensormap.replace.tile.global_stride.shared::cta.b1024.b64 [%rd7], 0x0, %rd8;
  tensormap.replace.tile.element_stride.shared::cta.b1024.b32 [%rd7], 0x0, )" +
           steps + R"(;
  tensormap.replace.tile.element_stride.shared::cta.b1024.b32 [%rd7], 0x1, 1;
  tensormap.replace.tile.elemtype.shared::cta.b1024.b32 [%rd7], 0x7;
  tensormap.replace.tile.swizzle_mode.shared::cta.b1024.b32 [%rd7], 0x0;
  tensormap.replace.tile.interleave_layout.shared::cta.b1024.b32 [%rd7], 0x0;
  tensormap.replace.tile.fill_mode.shared::cta.b1024.b32 [%rd7], 0x0;
  mbarrier.init.shared::cta.b64 [%r3], 1;
MADE:
  bar.warp.sync -1;
  tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%rd5], [%r7], 128;
  )" + acquire +
           R"(
  fence.proxy.async;
  mov.u32 %r20, 0;
  @!%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r3], 128;
  @!%p1 cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%rd5, {%r20, %r20}], [%r3];)" +
           kWait + kOut + "ret;";
  };
  const std::string fence = "fence.proxy.tensormap::generic.acquire.gpu [%rd5], 128;";
  const Buffer<float> x(64), y(32);
  const Buffer<TensorMap> map(1);
  for (unsigned i = 0; i < 64; ++i) x[i] = static_cast<float>(i);
  const Entry good("x y map", replaced(fence));
  CHECK(kind_of(good, 32, true, x.get(), y.get(), map.get()) == "none");
  for (unsigned i = 0; i < 32; ++i) CHECK(y[i] == x[i / 8 * 8 + i % 8]);
  CHECK(kind_of(Entry("x y map", replaced("")), 32, false, x.get(), y.get(), map.get()) == "unfenced");
  CHECK(kind_of(Entry("x y map", replaced(fence, "2")), 32, false, x.get(), y.get(), map.get()) == "bad_box");
}

TEST_CASE("ptx: wrong uses of barriers in memory and of copies are findings in every order", "[simt][ptx][hopper]") {
  const Buffer<float> x(64, "x"), y(64, "y");
  const auto kind = [&](const std::string& body, bool watch = false) {
    return kind_of(Entry("x y", body), 64, watch, x.get(), y.get());
  };
  const std::string head = barrier() + kX;
  CHECK(kind(head + expecting(256) + kRow + kWait + kOut) == "none");
  CHECK(kind(head + expecting(256) + kRow + kOut) == "in_flight");
  CHECK(kind(head + expecting(128) + kRow + kWait + kOut) == "deadlock");
  CHECK(kind(head + expecting(512) + kRow + kWait + kOut) == "deadlock");
  CHECK(kind(head + kRow + kWait + kOut) == "deadlock");
  CHECK(kind(head + expecting(256) + kRow) == "left_behind");
  CHECK(kind(barrier("nanosleep.u32 0;") + kX + expecting(256) + kRow + kWait + kOut) == "unfenced");
  CHECK(kind(barrier("fence.proxy.async;") + kX + expecting(256) + kRow + kWait + kOut) == "none");
  CHECK(kind(head + "@!%p1 mbarrier.init.shared::cta.b64 [%r3], 1;") == "bad_barrier");
  CHECK(kind(head + "@!%p1 mbarrier.inval.shared::cta.b64 [%r3];\n@!%p1 mbarrier.init.shared::cta.b64 [%r3], 1;", true) ==
        "none");
  CHECK(kind(head + expecting(256) + "@!%p1 mbarrier.inval.shared::cta.b64 [%r3];") == "bad_barrier");
  CHECK(kind(head + "@!%p1 mbarrier.arrive.shared::cta.b64 _, [%r3], 2;") == "bad_barrier");
  CHECK(kind(head + "@!%p1 mbarrier.arrive.shared::cta.b64 _, [%r3+8];") == "bad_barrier");
  CHECK(kind(head + "@!%p1 st.shared.u32 [%r3], %r1;") == "bad_barrier");
  CHECK(kind(head + "add.u32 %r2, %r2, 8;" + expecting(256) + kRow) == "bad_box");
  CHECK(kind(head + "add.u32 %r2, %r2, 16384;" + expecting(256) + kRow) == "in_flight");
  const std::string store = "@!%p1 cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r2], 16;\n",
                    commit = "cp.async.bulk.commit_group;\n", wait = "cp.async.bulk.wait_group.read 0;\n",
                    fence = "fence.proxy.async;\n", write = "@!%p1 st.shared.v4.u32 [%r2], {%r1, %r1, %r1, %r1};\n";
  CHECK(kind(head + write + fence + store + commit + wait) == "none");
  CHECK(kind(head + write + store + commit + wait) == "unfenced");
  CHECK(kind(head + write + fence + store + wait) == "left_behind");
  CHECK(kind(head + write + fence + store + commit) == "left_behind");
  CHECK(kind(head + write + fence + store + commit + write + wait) == "wgmma_reads");
}

TEST_CASE("ptx: the uses of a barrier have to be ordered after its initialisation", "[simt][ptx][hopper][watch]") {
  const std::string use = "setp.eq.u32 %p2, %r1, 32;\n@%p2 mbarrier.arrive.shared::cta.b64 _, [%r3];";
  CHECK(kind_of(Entry("x", barrier() + use), 64, true, nullptr) == "none");
  // The barrier of the first order runs after the initialisation, and in the second there is none yet.
  const std::string unordered = kind_of(Entry("x", barrier("fence.proxy.async;", "nanosleep.u32 0;") + use), 64, true, nullptr);
  CHECK(unordered.find("shared_race") == 0);
  CHECK(unordered.find("none") == std::string::npos);
}

// Thread 32 writes, and a fence stands before or behind the barrier, by the writer or by the thread that stores.
TEST_CASE("ptx: a fence of the writer or of the reader lets the asynchronous proxy read", "[simt][ptx][hopper][watch]") {
  const Buffer<float> x(64);
  const auto kind = [&](const std::string& before, const std::string& after) {
    return kind_of(Entry("x", kRegisters + R"(.shared .align 128 .b8 s[128];
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, s;
  ld.param.u64 %rd1, [x];
  setp.ne.u32 %p1, %r1, 0;
  setp.eq.u32 %p2, %r1, 32;
  @%p2 st.shared.v4.u32 [%r2], {%r1, %r1, %r1, %r1};
  )" + before + "\nbar.sync 0;\n" +
                                  after + R"(
  @!%p1 cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r2], 16;
  @!%p1 cp.async.bulk.commit_group;
  @!%p1 cp.async.bulk.wait_group 0;
  ret;)"),
                   64, true, x.get());
  };
  CHECK(kind("@%p2 fence.proxy.async;", "") == "none");
  CHECK(kind("", "@!%p1 fence.proxy.async;") == "none");
  CHECK(kind("", "") == "unfenced");
  CHECK(kind("@!%p1 fence.proxy.async;", "") == "unfenced");
  CHECK(kind("", "@%p2 fence.proxy.async;") == "unfenced");
}

TEST_CASE("ptx: a warpgroup that takes registers waits until another gives as many", "[simt][ptx][hopper]") {
  const auto kind = [](const std::string& given, const std::string& taken) {
    const Entry entry("x", kRegisters + R"(
  mov.u32 %r1, %tid.x;
  setp.lt.u32 %p1, %r1, 128;
  @%p1 bra LESS;
  setmaxnreg.inc.sync.aligned.u32 )" +
                               taken + R"(;
  ret;
LESS:
  setmaxnreg.dec.sync.aligned.u32 )" +
                               given + R"(;
  ret;)");
    return kind_of(entry, 384, false, nullptr);
  };
  CHECK(kind("40", "232") == "none");
  CHECK(kind("48", "240") == "bad_registers");
  CHECK(kind("40", "236") == "bad_registers");
}

TEST_CASE("ptx: what the launch before wrote is read after griddepcontrol.wait", "[simt][ptx]") {
  const Buffer<unsigned> x(32, "x"), y(32, "y");
  const std::string at = kRegisters + R"(
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd3, %r1, 4;
  ld.param.u64 %rd1, [x];
  add.u64 %rd1, %rd1, %rd3;
  ld.param.u64 %rd2, [y];
  add.u64 %rd2, %rd2, %rd3;
)";
  const Entry first("x y", at + "griddepcontrol.launch_dependents;\nst.global.u32 [%rd1], %r1;\nret;");
  const auto second = [&](const std::string& body, bool dependent) {
    std::string kinds;
    for (const simt::ThreadOrder order : kOrders) {
      const Configured on({.order = order, .seed = 5, .watch = true});
      first.run(1, 32, x.get(), y.get());
      const Entry entry("x y", body);
      const void* const pointers[] = {x.get(), y.get()};
      const simt::Finding f = finding_of([&] {
        ptx::launch(entry.program(), {.grid = {1}, .block = {32}, .dependent = dependent}, nullptr,
                    std::as_bytes(std::span(pointers)));
      });
      if (kinds != f.kind) kinds += f.kind;
      simt::mark_unwritten(x.get());
    }
    return kinds;
  };
  const std::string wait = "griddepcontrol.wait;\n", store = "st.global.u32 [%rd2], %r2;\nret;";
  for (const std::string& read :
       {at + "%;\nld.global.u32 %r2, [%rd1];\n", at + "%;\natom.global.add.u32 %r2, [%rd1], 1;\n",
        barrier() + kX + expecting(128) + "%;\n@!%p1 cp.async.bulk.shared::cluster.global." +
            "mbarrier::complete_tx::bytes [%r2], [%rd1], 128, [%r3];\n" + kWait + "ld.param.u64 %rd2, [y];\nmov.u32 %r2, 0;\n"}) {
    const auto hole = read.find("%;\n");
    const auto with = [&](const std::string& before) { return read.substr(0, hole) + before + read.substr(hole + 3); };
    CHECK(second(with(wait) + store, true) == "none");
    CHECK(second(with("") + wait + store, true) == "early_read");
    CHECK(second(with("") + wait + store, false) == "none");
  }
  // Lane 0 waits alone; the others know of it by a barrier.
  const std::string one = at + "setp.ne.u32 %p1, %r1, 0;\n@%p1 bra ON;\n" + wait + "ON:\n", load = "ld.global.u32 %r2, [%rd1];\n";
  for (const char* const barrier : {"bar.sync 0;\n", "bar.warp.sync 0xffffffff;\n", "bar.sync 1, 32;\n"})
    CHECK(second(one + barrier + load + store, true) == "none");
  CHECK(second(one + load + store, true) == "early_read");
  CHECK(second(at + "bar.sync 0;\n" + one.substr(at.size()) + load + store, true) == "early_read");
  CHECK(second(at + store, true) == "early_end");
  CHECK(second(at + "@%p1 " + wait + store, true) == "early_end");
}

TEST_CASE("ptx: forms of sm_90a that the machine does not run are refused by name", "[simt][ptx][hopper]") {
  const auto why = [](const std::string& body) {
    try {
      Entry("", kRegisters + body);
    } catch (const ptx::Refused& e) {
      return std::string(e.what()).substr(std::strlen("k.ptx:7: "));
    }
    return std::string("nothing");
  };
  CHECK(why("wgmma.mma_async.sync.aligned.m64n8k32.f32.e4m3.e4m3 {%f0, %f1, %f2, %f3}, %rd1, %rd2, 1, 1, 1;") ==
        "`wgmma.mma_async.sync.aligned.m64n8k32.f32.e4m3.e4m3` is run for f16, bf16 and tf32 with sums in f32 only");
  CHECK(why("wgmma.mma_async.sync.aligned.m64n12k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, %rd1, %rd2, 1, 1, 1, 0, 0;") ==
        "`wgmma.mma_async.sync.aligned.m64n12k16.f32.f16.f16` is not run in this shape");
  CHECK(why("ld.global.u32 %r1, [%rd1, {%r2}];") == "`ld.global.u32` has coordinates where none are taken");
  CHECK(why("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%rd1, {%r2}], [%r1];") ==
        "`cp.async.bulk.tensor.2d.global.shared::cta.bulk_group` has 1 coordinates");
  CHECK(why("barrier.cluster.arrive.aligned;") == "`barrier.cluster.arrive.aligned` is not run: a cluster has one block here");
  CHECK(why("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%r1], [%rd1, {%r2, "
            "%r3}], [%r4], %r5;") ==
        "`cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster` is run within a block "
        "only");
}

}  // namespace
