// SPDX-License-Identifier: Apache-2.0
// wgmma through the PTX door: every width, type and form of A, and what may be done with accumulators of a running product.
#include <bit>
#include <cstdint>
#include <cstring>
#include <string>

#include "device_hopper.hpp"
#include "ptx_hopper_testing.hpp"

namespace {

using namespace simt::testing;

// d[64, n] = a[64, k] b[n, k]^T: both lie in rows of 128 bytes, swizzled.  Four instructions take the row.
std::string product(const std::string& type, int n, bool in_registers, const std::string& before = "wgmma.fence.sync.aligned;",
                    const std::string& after = "wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;") {
  std::string text = barrier() + kX + "ld.param.u64 %rd2, [y];\nld.param.u64 %rd9, [w];\n" +
                     expecting(8192 + static_cast<unsigned>(n) * 128) +
                     "@!%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%rd1], 8192, [%r3];\n"
                     "add.u32 %r7, %r2, " +
                     std::to_string(n <= 64 ? 8192 : 17408) +
                     ";\n"
                     "@!%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r7], [%rd2], " +
                     std::to_string(n * 128) + ", [%r3];" + kWait + "shr.u32 %r8, %r2, 4; shr.u32 %r9, %r7, 4;\n" + before + "\n";
  for (int step = 0; step < 4; ++step) {
    const std::string k = std::to_string(step), from = std::to_string(2 * step);
    for (const char* const of : {"10", "11"})
      text += std::string("add.u32 %r12, %r") + (of[1] == '0' ? "8" : "9") + ", " + from + "; cvt.u64.u32 %rd" + of +
              ", %r12; or.b64 %rd" + of + ", %rd" + of + ", 0x4000004000010000;\n";
    std::string a = "%rd10";
    if (in_registers) {
      text += "mul.wide.u32 %rd12, %r1, 16; add.u64 %rd12, %rd12, %rd9;\nld.global.v4.b32 {%r20, %r21, %r22, %r23}, [%rd12+" +
              std::to_string(2048 * step) + "];\n";
      a = "{%r20, %r21, %r22, %r23}";
    }
    text += "wgmma.mma_async.sync.aligned.m64n" + std::to_string(n) + (type == "tf32" ? "k8" : "k16") + ".f32." + type + "." +
            type + " {";
    for (int i = 0; i < n / 2; ++i) text += (i == 0 ? "%f" : ", %f") + std::to_string(i);
    text += "}, " + a + ", %rd11, " + (step == 0 ? "0" : "1") + ", 1, 1" +
            (type == "tf32" ? ""
             : in_registers ? ", 0"
                            : ", 0, 0") +
            ";\n";
  }
  text +=
      after + "\nld.param.u64 %rd20, [d]; mul.wide.u32 %rd21, %r1, " + std::to_string(2 * n) + "; add.u64 %rd20, %rd20, %rd21;\n";
  for (int i = 0; i < n / 2; ++i) text += "st.global.f32 [%rd20+" + std::to_string(4 * i) + "], %f" + std::to_string(i) + ";\n";
  return text + "ret;";
}

struct Operands {
  explicit Operands(const std::string& type) : bytes(type == "tf32" ? 4 : 2), x(8192), y(32768), words(8192), d(64 * 256) {
    for (int r = 0; r < 64; ++r)
      for (int k = 0; k < columns(); ++k) put(x, r, k, type, a(r, k));
    for (int r = 0; r < 256; ++r)
      for (int k = 0; k < columns(); ++k) put(y, r, k, type, b(r, k));
    for (int step = 0; step < 4; ++step)
      for (int t = 0; t < 128; ++t)
        for (int i = 0; i < 4; ++i) {
          const int row = t / 32 * 16 + t % 32 / 4 + 8 * (i % 2), at = step * 32 + t % 4 * 4 + 16 * (i / 2);
          std::memcpy(words.get() + (step * 128 + t) * 16 + i * 4, x.get() + place(row, at), 4);
        }
  }
  int columns() const { return 128 / bytes; }
  static std::size_t place(int row, int byte) { return static_cast<std::size_t>(row * 128 + (byte ^ (row % 8) << 4)); }
  static float a(int r, int k) { return static_cast<float>((r * 7 + k * 3) % 9 - 4); }
  static float b(int r, int k) { return static_cast<float>((r * 5 + k) % 7 - 3); }
  void put(const Buffer<unsigned char>& to, int row, int k, const std::string& type, float v) const {
    const std::uint32_t bits = type == "f16"    ? simt::device::to_half(v).bits
                               : type == "bf16" ? std::bit_cast<std::uint32_t>(v) >> 16
                                                : std::bit_cast<std::uint32_t>(v);
    std::memcpy(to.get() + place(row, k * bytes), &bits, static_cast<std::size_t>(bytes));
  }
  // Wrong results, of n columns.
  unsigned wrong(int n) const {
    unsigned count = 0;
    for (int t = 0; t < 128; ++t)
      for (int i = 0; i < n / 2; ++i) {
        const int row = t / 32 * 16 + t % 32 / 4 + 8 * (i / 2 % 2), column = i / 4 * 8 + t % 4 * 2 + i % 2;
        float sum = 0;
        for (int k = 0; k < columns(); ++k) sum += a(row, k) * b(column, k);
        count += d[static_cast<std::size_t>(t * (n / 2) + i)] != sum;
      }
    return count;
  }
  int bytes;
  Buffer<unsigned char> x, y, words;
  Buffer<float> d;
};

TEST_CASE("ptx: wgmma of every width, type and form of A", "[simt][ptx][hopper]") {
  for (const std::string type : {"f16", "bf16", "tf32"}) {
    const Operands o(type);
    for (const bool in_registers : {false, true})
      for (int n = 8; n <= 256; n += type == "f16" && !in_registers ? 8 : 56) {
        std::string text = product(type, n, in_registers);
        if (n > 64) text.replace(text.find("s[16640]"), 8, "s[50432]");
        const Entry entry("x y w d", text);
        for (const simt::ThreadOrder order : kOrders) {
          const Configured on({.order = order, .seed = 1, .time_limit_s = kHang_s, .watch = n == 64});
          INFO(type << " n=" << n << " A in registers: " << in_registers);
          const simt::Finding f = finding_of([&] { entry.run(1, 128, o.x.get(), o.y.get(), o.words.get(), o.d.get()); });
          CHECK(f.message == "");
          CHECK(o.wrong(n) == 0);
          std::memset(o.d.get(), 0xff, 64 * 256 * 4);
        }
      }
  }
}

TEST_CASE("ptx: accumulators of a running wgmma may be moved, and not read or written", "[simt][ptx][hopper]") {
  const Operands o("f16");
  const auto kind = [&](const std::string& after, const std::string& before = "wgmma.fence.sync.aligned;") {
    const Entry entry("x y w d", product("f16", 32, false, before, after));
    const std::string kinds = kind_of(entry, 128, false, o.x.get(), o.y.get(), o.words.get(), o.d.get());
    return kinds == "none" && o.wrong(32) != 0 ? "wrong" : kinds;
  };
  const std::string commit = "wgmma.commit_group.sync.aligned;\n", wait = "wgmma.wait_group.sync.aligned 0;\n";
  CHECK(kind(commit + "mov.f32 %f200, %f3;\nmov.f32 %f3, 0f00000000;\n" + wait + "mov.f32 %f3, %f200;") == "none");
  CHECK(kind(commit + "add.f32 %f200, %f3, %f4;\n" + wait) == "wgmma_registers");
  CHECK(kind(commit + "mov.f32 %f3, 0f00000000;\n" + wait) == "wgmma_registers");
  CHECK(kind(commit + "mov.f32 %f200, %f3;\nadd.f32 %f201, %f200, %f200;\n" + wait) == "wgmma_registers");
  CHECK(kind(commit) == "wgmma_registers");
  CHECK(kind(commit + "ret;") == "left_behind");
  CHECK(kind(commit + wait, "") == "wgmma_unordered");
  CHECK(kind(commit + wait, "wgmma.fence.sync.aligned; add.u32 %r8, %r8, 1;") == "bad_descriptor");
  CHECK(kind(commit + "mov.u32 %r13, 0; @!%p1 st.shared.u32 [%r2], %r13;\n" + wait) == "wgmma_reads");
}

}  // namespace
