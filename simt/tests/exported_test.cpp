// SPDX-License-Identifier: Apache-2.0
// The C interface of libassay_ptx.so, as a program in C uses it.
#include <cmath>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "catch_shim.hpp"
#include "include/assay_ptx.h"

namespace {

constexpr const char* kHead = ".version 8.0\n.target sm_80\n.address_size 64\n";

std::string entry_of(const std::string& body) {  // its body begins at line 6
  return std::string(kHead) + ".visible .entry k(.param .u64 out, .param .u32 n)\n{\n" + body + "\nret;\n}\n";
}
constexpr const char* kBegin =
    ".reg .b32 %r<9>; .reg .b64 %rd<5>; .reg .pred %p<3>; .shared .align 8 .b8 s[64];\n"
    "ld.param.u64 %rd1, [out]; ld.param.u32 %r5, [n]; mov.u32 %r1, %tid.x; shr.u32 %r2, %r1, 5;\n";

struct Module {
  AssayPtxModule* module = nullptr;
  AssayPtxEntry* entry = nullptr;
  explicit Module(const std::string& text, const char* name = "") {
    module = assay_ptx_load(text.data(), text.size(), "k.ptx");
    if (module != nullptr) entry = assay_ptx_entry(module, name);
  }
  ~Module() { assay_ptx_unload(module); }
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;
};

struct Memory {
  void* p;
  explicit Memory(std::size_t bytes, const char* name = "out") : p(assay_ptx_allocate(bytes, 0, name)) {}
  ~Memory() { assay_ptx_release(p); }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
};

AssayPtxLaunch launch_of(unsigned blocks, unsigned threads, const std::vector<unsigned char>& parameters, unsigned shared = 0) {
  return {{blocks, 1, 1}, {threads, 1, 1}, shared, parameters.data(), parameters.size()};
}

void configure(bool watch, bool replicated = false, int order = 0) {
  const AssayPtxOptions options{order, watch, 0, 0, replicated};
  assay_ptx_configure(&options);
}

// Launches blocks of `threads` on 64 words of zeros.  "none", "suspected KIND", or a finding's kind.
std::string launched(const std::string& body, unsigned threads, bool replicated, unsigned blocks = 1) {
  const Module m(entry_of(kBegin + body));
  REQUIRE(m.entry != nullptr);
  const Memory out(256);
  std::memset(out.p, 0, 256);
  assay_ptx_mark_written(out.p, 256);
  std::vector<unsigned char> parameters(assay_ptx_parameter_bytes(m.entry));
  std::memcpy(parameters.data(), &out.p, 8);
  configure(true, replicated);
  AssayPtxFinding finding{};
  const AssayPtxLaunch launch = launch_of(blocks, threads, parameters);
  const int status = assay_ptx_launch(m.entry, &launch, &finding);
  const std::string kind =
      status == 0 ? assay_ptx_suspected(&finding) == 1 ? std::string("suspected ") + finding.kind : "none" : finding.kind;
  configure(false);
  return kind;
}

// Which of 32 lanes that store to one place stays, in an order of threads.
unsigned last_lane(int order) {
  const Module m(entry_of(kBegin + std::string("st.shared.u32 [s], %r1; ld.shared.u32 %r3, [s]; st.global.u32 [%rd1], %r3;")));
  const Memory out(4);
  std::vector<unsigned char> parameters(assay_ptx_parameter_bytes(m.entry));
  std::memcpy(parameters.data(), &out.p, 8);
  configure(false, true, order);
  AssayPtxFinding finding{};
  const AssayPtxLaunch launch = launch_of(1, 32, parameters);
  REQUIRE(assay_ptx_launch(m.entry, &launch, &finding) == 0);
  configure(false);
  return *static_cast<unsigned*>(out.p);
}

}  // namespace

TEST_CASE("assay_ptx: a kernel that Triton made runs on memory of the machine", "[simt][ptx][exported]") {
  std::ifstream file(std::string(ASSAY_DATASETS_DIR) + "/ptx/triton_softmax.ptx");
  std::stringstream text;
  text << file.rdbuf();
  const Module m(text.str(), "softmax_kernel");
  REQUIRE(m.entry != nullptr);
  CHECK(assay_ptx_name(m.entry) == std::string("softmax_kernel"));
  CHECK(assay_ptx_fidelity(m.entry) == std::string("exact"));

  constexpr int kRows = 3, kCols = 65;
  std::uint64_t at[16] = {}, bytes[16] = {};
  const std::size_t count = assay_ptx_parameters(m.entry, at, bytes, 16);
  REQUIRE(count == 6);
  CHECK(bytes[0] == 8);
  CHECK(bytes[2] == 4);
  const Memory x(kRows * kCols * 4, "x"), y(kRows * kCols * 4, "y");
  auto* const in = static_cast<float*>(x.p);
  for (int i = 0; i < kRows * kCols; ++i) in[i] = static_cast<float>(i % 7) - 3;
  assay_ptx_mark_written(x.p, kRows * kCols * 4);
  std::vector<unsigned char> parameters(assay_ptx_parameter_bytes(m.entry));
  const std::int32_t cols = kCols;
  const std::int64_t stride = kCols;
  std::memcpy(&parameters[at[0]], &x.p, 8);
  std::memcpy(&parameters[at[1]], &y.p, 8);
  std::memcpy(&parameters[at[2]], &cols, 4);
  std::memcpy(&parameters[at[3]], &stride, 8);
  configure(true);
  AssayPtxFinding finding{};
  AssayPtxLaunch launch = launch_of(kRows, 128, parameters, 64);
  CHECK(assay_ptx_touched(y.p) == 0);
  REQUIRE(assay_ptx_launch(m.entry, &launch, &finding) == 0);
  CHECK(assay_ptx_touched(y.p) == 1);
  CHECK(assay_ptx_touched(x.p) == 0);
  std::vector<unsigned char> written(kRows * kCols * 4);
  assay_ptx_written(y.p, written.size(), written.data());
  for (const unsigned char w : written) REQUIRE(w == 1);
  for (int r = 0; r < kRows; ++r) {
    double sum = 0;
    for (int c = 0; c < kCols; ++c) sum += std::exp(in[r * kCols + c]);
    for (int c = 0; c < kCols; ++c)
      CHECK(std::abs(static_cast<float*>(y.p)[r * kCols + c] - std::exp(in[r * kCols + c]) / sum) < 1e-6);
  }
  // One block too many reads behind x.
  launch.grid[0] = kRows + 1;
  REQUIRE(assay_ptx_launch(m.entry, &launch, &finding) == 1);
  CHECK(finding.kind == std::string("out_of_bounds"));
  CHECK(std::string(finding.message).find("'x' (780 bytes), by block (3, 0, 0)") != std::string::npos);
  CHECK(std::string(finding.file).find("rows.py") != std::string::npos);
  CHECK(finding.line > 0);
  CHECK(finding.ptx_line > 0);
  configure(false);
}

TEST_CASE("assay_ptx: what cannot be loaded or launched is refused in a sentence", "[simt][ptx][exported]") {
  CHECK(Module("nothing").module == nullptr);
  CHECK(std::string(assay_ptx_why()).substr(0, 6) == "k.ptx:");
  const Module tcgen(entry_of(".reg .b32 %r<3>;\ntcgen05.ld %r1;"));
  CHECK(tcgen.module != nullptr);
  CHECK(tcgen.entry == nullptr);
  CHECK(std::string(assay_ptx_why()).find("k.ptx:7: `tcgen05.ld`") == 0);
  CHECK(Module(entry_of(""), "other").entry == nullptr);
  CHECK(std::string(assay_ptx_why()) == "k.ptx: there is no entry 'other', but k");
  const Module k(entry_of(""));
  REQUIRE(k.entry != nullptr);
  AssayPtxFinding finding{};
  const AssayPtxLaunch launch = launch_of(1, 32, std::vector<unsigned char>(3));
  CHECK(assay_ptx_launch(k.entry, &launch, &finding) == 2);
  const AssayPtxLaunch empty = launch_of(0, 32, std::vector<unsigned char>(12));
  REQUIRE(assay_ptx_launch(k.entry, &empty, &finding) == 1);
  CHECK(finding.kind == std::string("bad_launch"));
}

TEST_CASE("assay_ptx: races of threads that hold one element are told apart from others", "[simt][ptx][exported]") {
  // Lanes of one instruction store sums that they rounded each by itself.
  const std::string lanes = "st.shared.u32 [s], %r1;";
  CHECK(launched(lanes, 32, false) == "shared_race");
  CHECK(launched(lanes, 32, true) == "none");
  for (const int order : {0, 1, 2}) CHECK(last_lane(order) == 31);
  // Two instructions do not, nor does global memory.
  const std::string two =
      "setp.eq.u32 %p1, %r1, 3; @%p1 st.shared.u32 [s], 7;\nsetp.eq.u32 %p2, %r1, 4; @%p2 st.shared.u32 [s], 8;";
  CHECK(launched(two, 32, true) == "shared_race");
  CHECK(launched("st.global.u32 [%rd1], %r1;", 32, true) == "global_race");
  // All threads load an element, and the first of them stores it again.
  const std::string again =
      "ld.global.u32 %r3, [%rd1]; add.u32 %r3, %r3, 1; setp.eq.u32 %p1, %r1, 0; @%p1 st.global.u32 [%rd1], %r3;";
  CHECK(launched(again, 64, false) == "global_race");
  CHECK(launched(again, 64, true) == "suspected global_race");
  CHECK(launched("st.shared.u32 [s], 7; ld.shared.u32 %r3, [s];", 64, true) == "shared_race");
  CHECK(launched("bar.sync 0;", 64, true) == "none");
}

TEST_CASE("assay_ptx: an atomic operation that releases and acquires orders blocks", "[simt][ptx][exported]") {
  // Each block stores a word, and takes a ticket; the last reads what the first has stored.
  const auto ticket = [](const std::string& before, const std::string& sem, const std::string& after = "",
                         bool replicated = true) {
    return launched(
        "mov.u32 %r6, %ctaid.x; mul.wide.u32 %rd2, %r6, 4; add.u64 %rd2, %rd1, %rd2;\n"
        "setp.ne.u32 %p1, %r1, 0; @%p1 bra WAIT;\n" +
            before + "\natom.global.gpu" + sem + ".add.u32 %r3, [%rd1+128], 1;\n" + after +
            "\nsetp.ne.u32 %p2, %r3, 3; @%p2 bra END; ld.global.u32 %r4, [%rd1];\nEND: WAIT: bar.sync 0;",
        64, replicated, 4);
  };
  const std::string store = "st.global.u32 [%rd2], 5;";
  CHECK(ticket(store, ".acq_rel") == "none");
  CHECK(ticket(store, ".acq_rel", "", false) == "global_race");
  CHECK(ticket(store, ".relaxed") == "global_race");
  CHECK(ticket(store, ".release") == "global_race");
  CHECK(ticket("", ".acq_rel", store) == "global_race");
  // What other threads of the block have stored is released if a barrier comes before.
  const auto others = [](const std::string& barrier) {
    return launched(
        "mov.u32 %r6, %ctaid.x; setp.ne.u32 %p1, %r6, 0; setp.ne.u32 %p2, %r1, 0; @%p1 bra SECOND;\n"
        "setp.eq.u32 %p0, %r1, 7; @%p0 st.global.u32 [%rd1], 5;\n" +
            barrier +
            "@!%p2 atom.global.gpu.acq_rel.add.u32 %r3, [%rd1+128], 1; bra END;\n"
            "SECOND: @!%p2 atom.global.gpu.acq_rel.add.u32 %r3, [%rd1+128], 1;\nbar.sync 0; ld.global.u32 %r4, [%rd1];\nEND: "
            "ret;",
        32, true, 2);
  };
  CHECK(others("bar.sync 0;\n") == "none");
  CHECK(others("") == "global_race");
}
