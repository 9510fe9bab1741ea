// SPDX-License-Identifier: Apache-2.0
// The files of datasets/bench: every row is a case of its op, and names what there is; ladders and suites too.
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "catch_shim.hpp"
#include "validate/base/error.hpp"
#include "validate/bench/bench.hpp"
#include "validate/cases/bench_file.hpp"
#include "validate/problem/image.hpp"

using namespace assay;
using Json = nlohmann::json;
namespace fs = std::filesystem;

namespace {

const fs::path kBench = fs::path(ASSAY_DATASETS_DIR) / "bench";

std::string text_of(const fs::path& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

bool is_timed(const Kernel& k, const Op& op) { return k.op == op.name && !k.broken && !k.variant; }

// Checks a row; the cases that it means.
std::vector<Case> cases_of(const Op& op, const BenchEntry& entry) {
  CAPTURE(entry.shape);
  std::vector<Case> all;
  std::vector<std::string> dtypes = entry.dtypes;
  if (dtypes.empty()) dtypes = {"f16", "bf16", "f32"};
  for (const std::string& dtype : dtypes) {
    const std::string line = std::string(op.name) + " " + dtype + " " + entry.shape;
    all.push_back(parse_repro(line, op_shapes()).what);
    CHECK_NOTHROW(check(all.back(), op.shape()));
    CHECK(std::any_of(kernels().begin(), kernels().end(),
                      [&](const Kernel& k) { return is_timed(k, op) && k.dtypes.has(all.back().dtype); }));
  }
  for (const std::string& kernel : entry.kernels) {
    CAPTURE(kernel);
    const Kernel* k = find_kernel(op.name, kernel);
    CHECK((k && is_timed(*k, op)));
  }
  return all;
}

struct Folder {
  fs::path path = fs::temp_directory_path() / ("assay_bench_files_" + std::to_string(::getpid()));
  Folder() { fs::create_directories(path / "bench/suites"); }
  ~Folder() { fs::remove_all(path); }
  void write(const std::string& name, const std::string& text) const { std::ofstream(path / "bench" / name) << text; }
};

BenchFlags flags_of(const std::string& suite, const fs::path& datasets = ASSAY_DATASETS_DIR) {
  BenchFlags flags;
  flags.suite = suite;
  flags.selection.datasets = datasets;
  return flags;
}

std::string refusal(const BenchFlags& flags) {
  try {
    bench_rows(flags, false);
  } catch (const BadInput& e) {
    return e.what();
  }
  return "";
}

}  // namespace

TEST_CASE("bench files: every row is a case of its op") {
  int files = 0;
  for (const fs::directory_entry& file : fs::directory_iterator(kBench)) {
    if (file.is_directory()) continue;
    CAPTURE(file.path().filename().string());
    const std::string name_of_op = Json::parse(std::ifstream(file.path())).at("op");
    CHECK(file.path().stem() == name_of_op);
    const Op* const op = find_op(name_of_op);
    if (!op) continue;  // of an op that this tree does not have
    ++files;
    const BenchFile f = parse_bench(text_of(file.path()), "a bench file");
    CHECK_FALSE(f.entries.empty());
    for (const BenchEntry& entry : f.entries) cases_of(*op, entry);
  }
  CHECK(files > 0);
}

TEST_CASE("bench files: a ladder names kernels that are timed, each once") {
  for (const Op& op : ops()) {
    const fs::path file = kBench / (std::string(op.name) + ".json");
    if (!fs::exists(file)) continue;
    CAPTURE(op.name);
    const std::vector<std::string> ladder = parse_bench(text_of(file), "a bench file").ladder;
    const auto ours =
        std::count_if(kernels().begin(), kernels().end(), [&](const Kernel& k) { return is_timed(k, op) && !is_vendor(k); });
    CHECK((ladder.size() >= 2 || ours < 2));
    CHECK(std::set<std::string>(ladder.begin(), ladder.end()).size() == ladder.size());
    for (const std::string& step : ladder) {
      CAPTURE(step);
      const Kernel* k = find_kernel(op.name, step);
      CHECK((k && is_timed(*k, op) && !is_vendor(*k)));
    }
  }
}

TEST_CASE("bench files: every row of a suite is a legal case, once") {
  int suites = 0;
  for (const fs::directory_entry& file : fs::directory_iterator(kBench / "suites")) {
    CAPTURE(file.path().filename().string());
    ++suites;
    const Json root = Json::parse(std::ifstream(file.path()));
    CHECK(file.path().stem() == root.at("suite").get<std::string>());
    CHECK_FALSE(root.at("about").get<std::string>().empty());
    std::set<std::string> seen;
    int launches = 0;  // kernels on cases
    for (const SuiteTable& table : parse_bench_suite(text_of(file.path()), "a suite")) {
      CHECK_FALSE(table.rows.empty());
      for (const SuiteRow& row : table.rows) {
        CAPTURE(row.label);
        const Op* const op = find_op(row.op);
        REQUIRE(op);
        CHECK_FALSE(row.entry.dtypes.empty());
        for (const Case& c : cases_of(*op, row.entry)) {
          CHECK(seen.insert(repro(c, op->shape())).second);
          const std::vector<Placement> placements = place(*op, c);
          std::size_t bytes = 0;
          for (const Placement& p : placements) bytes += p.bytes;
          const std::unique_ptr<Problem> problem = op->make();
          attach(*problem, c, placements, std::vector<std::byte*>(placements.size(), nullptr));
          for (const std::string& name : row.entry.kernels) {
            const Kernel* const k = find_kernel(row.op, name);
            if (!k || !k->dtypes.has(c.dtype)) continue;
            CAPTURE(name);
            CHECK(k->supports(problem->args()));
            launches += is_timed(*k, *op);
          }
          if (root.at("suite") == "traffic") {  // reports/traffic.py judges rows of at least 256 MB
            CHECK(problem->cost().bytes() >= 256e6);
            CHECK(problem->cost().bytes() <= 600e6);
            CHECK_FALSE(row.entry.kernels.empty());
          }
          if (root.at("suite") == "copies") CHECK(problem->cost().bytes() >= 64e6);
          if (root.at("suite") != "calibration") continue;
          CHECK(bytes < (std::size_t{400} << 20));
          CHECK_FALSE(row.entry.kernels.empty());
          CHECK(std::count(row.entry.kernels.begin(), row.entry.kernels.end(), "naive") == 0);
        }
      }
    }
    if (root.at("suite") == "calibration") CHECK(launches >= 220);
  }
  CHECK(suites >= 10);
}

TEST_CASE("bench --suite: rows by op, dtype and kernel, with their place and the ladder") {
  BenchFlags flags = flags_of("ln-residual");
  const std::vector<BenchShape> all = bench_rows(flags, false);
  CHECK(all.size() == 12);
  REQUIRE(all.at(0).place);
  CHECK(all.at(0).place->suite == "ln-residual");
  CHECK(all.at(0).place->label == "Decode (1,1,2560)");
  CHECK(all.at(0).place->reported.at("speedup") == 1.27);
  CHECK(all.at(0).ladder.at(0) == "naive");
  flags.selection.dtypes = {"f16"};
  CHECK(bench_rows(flags, false).size() == 6);
  flags.selection.ops = {"softmax"};
  CHECK(refusal(flags).find("no row of it") != std::string::npos);
  flags = flags_of("llama2-7b");
  flags.selection.kernels = {"fused"};
  const std::vector<BenchShape> layers = bench_rows(flags, false);
  CHECK(layers.size() == 4);
  for (const BenchShape& row : layers) CHECK(row.op->name == "transformer_layer");
  flags.shapes = {"rows=1 cols=1"};
  CHECK(refusal(flags).find("--shape") != std::string::npos);
  const std::string near = refusal(flags_of("lama2-7b")), far = refusal(flags_of("../hopper.json/of/something/else"));
  for (const std::string& said : {near, far})
    for (const char* known : {"calibration", "flashkernel", "fused-ops", "hopper", "llama2-7b", "ln-residual", "traffic"})
      CHECK(said.find(known) != std::string::npos);
  CHECK(near.find("Did you mean 'llama2-7b'?") != std::string::npos);
}

TEST_CASE("bench: a file of an op without shapes is refused") {
  for (const char* shapes : {"null", "{}", "[]", "\"rows=1\""})
    CHECK_THROWS_AS(parse_bench(R"({"op": "softmax", "shapes": )" + std::string(shapes) + "}", "a file"), BadInput);
  CHECK(parse_bench(R"({"shapes": ["rows=1"]})", "a file").entries.size() == 1);
}

TEST_CASE("bench --suite: a file that is none is refused by its name") {
  const Folder folder;
  const std::string row = R"("label": "a", "op": "softmax", "shape": "rows=1 cols=2", "dtypes": ["f16"])";
  const auto said = [&](const std::string& rows) {
    folder.write("suites/s.json", R"({"tables": [{"title": "t", "rows": [)" + rows + "]}]}");
    return refusal(flags_of("s", folder.path));
  };
  CHECK(said("{" + row + "}") == "");
  CHECK(said("{" + row + R"(, "reported": {"ms": 1, "on": "T4"}})") == "");
  CHECK(said("{" + row + R"(, "reported": [1]})").find("s.json: 'reported' must be an object") != std::string::npos);
  CHECK(said("{" + row + R"(, "reported": {"a": null}})").find("numbers and texts") != std::string::npos);
  CHECK(said(R"({"op": "softmax"})").find("s.json") != std::string::npos);
  CHECK(said(R"({"label": "a", "op": "sotfmax", "shape": "rows=1"})").find("Did you mean 'softmax'?") != std::string::npos);
  CHECK(said("{") != "");
}
