// SPDX-License-Identifier: Apache-2.0
// bench's figures of the device: DRAM bytes, launched functions and clocks.
#include "catch_shim.hpp"
#include "validate/backends/device_figures.hpp"
#include "validate/bench/device.hpp"
#include "validate/bench/device_monitor.hpp"

namespace assay {
namespace {

bool has(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("dram: bytes of a launch are its share of the counted range minus the flush") {
  // 4 launches of 1000 bytes read and 500 written, each with a flush that writes 256; 8 flushes alone, which read 2 each.
  const DramBytes d = dram_of_launch({4 * (1000 + 2), 4 * (500 + 256)}, 4, {8 * 2, 8 * 256}, 8);
  CHECK(d.read == 1000);
  CHECK(d.written == 500);
  const DramBytes nothing = dram_of_launch({4, 1000}, 4, {80, 8 * 256}, 8);  // noise must not give negative bytes
  CHECK(nothing.read == 0);
  CHECK(nothing.written == 0);
}

TEST_CASE("dram: short launches are counted more often than long ones") {
  CHECK(dram_rounds(0) == 16);
  CHECK(dram_rounds(1e-4) == 16);
  CHECK(dram_rounds(0.01) == 5);
  CHECK(dram_rounds(0.05) == 2);
  CHECK(dram_rounds(100) == 2);
}

TEST_CASE("dram: counters that disagree with a known copy are reported") {
  const double bytes = 1 << 30;
  CHECK(dram_copy_fault({bytes, bytes}, bytes) == "");
  CHECK(dram_copy_fault({1.02 * bytes, 0.98 * bytes}, bytes) == "");
  CHECK(has(dram_copy_fault({1.04 * bytes, bytes}, bytes), "of a copy of 1073.7 MB they counted 1116.7 MB read"));
  CHECK(dram_copy_fault({bytes, 0.96 * bytes}, bytes) != "");
  CHECK(dram_copy_fault({0, 0}, bytes) != "");
}

TEST_CASE("dram: the text compares bytes with the formula and with unfused") {
  const Cost cost{.flops = 1, .bytes_read = 4e6, .bytes_written = 2e6, .unfused_bytes = 10e6};
  const DramBytes fused{4.04e6, 2.02e6}, unfused{6e6, 4.1e6};
  CHECK(dram_text(fused, "block_row", cost, &unfused) ==
        "DRAM 6.06 MB (4.04 read, 2.02 written), 1.010 of the formula; 40.0 % less than unfused, 40.0 % by the formula");
  CHECK(dram_text(fused, "block_row", cost, nullptr) == "DRAM 6.06 MB (4.04 read, 2.02 written), 1.010 of the formula");
  CHECK(has(dram_text(unfused, "unfused", cost, nullptr), "1.010 of the formula"));  // against unfused's own formula
}

TEST_CASE("functions: a shortened name keeps its room and its template arguments") {
  CHECK(short_function_name("_ZN5assay6on_gpu9rows_room4norm3runI6__halfLi8EEEvPKT_lf") == "rows_room::norm::run<__half, 8>");
  CHECK(short_function_name("_ZN5assay6on_gpu9rows_room4norm12_GLOBAL__N_13runEi") == "rows_room::norm::run");
  CHECK(short_function_name("_ZN5assay6on_gpu9pointwise5applyINS0_9rows_room5ShiftEEEvT_l") ==
        "pointwise::apply<rows_room::Shift>");
  CHECK(short_function_name("plain") == "plain");
}

TEST_CASE("functions and DRAM bytes survive JSON") {
  const std::vector<LaunchedFunction> all{{.name = "rows_room::norm::run<__half, 8>",
                                           .registers = 40,
                                           .static_shared = 32,
                                           .dynamic_shared = 1024,
                                           .local_bytes = 16,
                                           .threads = 256,
                                           .blocks = std::size_t{1} << 31,
                                           .blocks_per_sm = 6,
                                           .occupancy = 0.75}};
  const auto json = json_of(all);
  CHECK(json_of(functions_from(json)) == json);
  CHECK(json.at(0).at("blocks") == std::size_t{1} << 31);
  CHECK(resources_text(all[0]) ==
        "rows_room::norm::run<__half, 8>: 40 registers, 32 + 1024 B shared, 16 B of stack and spills, 256 threads x 2147483648 "
        "blocks, 6 on a multiprocessor: occupancy 75 %");
  const DramBytes d = dram_from(json_of(DramBytes{1e12 + 0.4, 7}));
  CHECK(d.read == 1e12);
  CHECK(d.written == 7);
}

TEST_CASE("bench: throttle reasons leave out idling and clocks set on purpose") {
  CHECK(throttle_reasons(0x1 | 0x2 | 0x10 | 0x100).empty());
  CHECK(throttle_reasons(0x4 | 0x20) == std::vector<std::string>{"software power cap", "software thermal slowdown"});
  DeviceMonitor nowhere("ffff:ff:ff.f");
  CHECK(nowhere.missing() != "");
  nowhere.start();
  CHECK_FALSE(nowhere.stop());
}

}  // namespace assay
