// SPDX-License-Identifier: Apache-2.0
// reports/pytorch_rows.py times the rows of datasets/bench and names them as bench records do.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "catch_shim.hpp"
#include "validate/cases/bench_file.hpp"
#include "validate/cases/case.hpp"
#include "validate/problem/op.hpp"

using namespace assay;
using Json = nlohmann::json;
namespace fs = std::filesystem;

namespace {

std::set<std::string> named(const std::string& op_name, const Json& entry) {
  std::set<std::string> names;
  const Op* const op = find_op(op_name);
  if (!op) return names;  // the build lacks this op
  const Json dtypes = entry.is_object() ? entry.value("dtypes", Json::array()) : Json::array();
  const std::string shape = entry.is_object() ? entry.at("shape").get<std::string>() : entry.get<std::string>();
  for (const DType t : kActivationDTypes) {
    if (!dtypes.empty() && std::find(dtypes.begin(), dtypes.end(), name(t)) == dtypes.end()) continue;
    const std::string dtype(name(t));
    const std::vector<OpShape> shapes{op->shape()};
    names.insert(op_name + " " + dtype + " " + summary(parse_repro(op_name + " " + dtype + " " + shape, shapes).what, shapes[0]));
  }
  return names;
}

}  // namespace

// validate/tests/bench/pytorch_rows_test.py runs the script first.  ASSAY_PYTORCH_ROWS names the file of its list: the rows of
// every file in datasets/bench, then of every suite.
TEST_CASE("pytorch_rows.py lists every row of datasets/bench as bench records name it", "[pytorch_rows]") {
  const char* const listed = std::getenv("ASSAY_PYTORCH_ROWS");
  if (!listed) return;
  std::set<std::string> expected, got;
  const fs::path folder = fs::path(ASSAY_DATASETS_DIR) / "bench";
  for (const fs::directory_entry& file : fs::directory_iterator(folder)) {
    if (file.path().extension() != ".json") continue;
    const Json root = Json::parse(std::ifstream(file.path()));
    for (const Json& entry : root.at("shapes")) expected.merge(named(root.at("op"), entry));
  }
  if (fs::exists(folder / "suites"))
    for (const fs::directory_entry& file : fs::directory_iterator(folder / "suites")) {
      const Json root = Json::parse(std::ifstream(file.path()));
      for (const Json& table : root.at("tables"))
        for (const Json& row : table.at("rows")) expected.merge(named(row.at("op"), row));
    }
  std::ifstream in(listed);
  for (std::string line; std::getline(in, line);)
    if (find_op(line.substr(0, line.find(' ')))) got.insert(line);
  CHECK(expected.size() > 100);
  for (const std::string& name : expected) {
    CAPTURE(name);
    CHECK(got.contains(name));
  }
  for (const std::string& name : got) {
    CAPTURE(name);
    CHECK(expected.contains(name));
  }
}
