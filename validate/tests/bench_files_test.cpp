// SPDX-License-Identifier: Apache-2.0
// The files of datasets/bench: every row is a case of its op, and names what there is.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "catch_shim.hpp"
#include "validate/case.hpp"
#include "validate/op.hpp"

using namespace assay;
using Json = nlohmann::json;
namespace fs = std::filesystem;

TEST_CASE("bench files: every row is a case of its op") {
  std::vector<OpShape> shapes;
  for (const Op& op : ops()) shapes.push_back(op.shape());
  int files = 0;
  for (const fs::directory_entry& file : fs::directory_iterator(fs::path(ASSAY_DATASETS_DIR) / "bench")) {
    CAPTURE(file.path().filename().string());
    const Json root = Json::parse(std::ifstream(file.path()));
    const std::string name_of_op = root.at("op");
    CHECK(file.path().stem() == name_of_op);
    const Op* const op = find_op(name_of_op);
    if (!op) continue;  // of an op that this tree does not have
    ++files;
    CHECK_FALSE(root.at("shapes").empty());
    for (const Json& row : root.at("shapes")) {
      const Json dtypes = row.is_string() ? Json::array({"f16", "bf16", "f32"}) : row.value("dtypes", Json::array({"f16"}));
      const std::string axes = row.is_string() ? row.get<std::string>() : row.at("shape").get<std::string>();
      CAPTURE(axes);
      for (const Json& dtype : dtypes) {
        const Repro parsed = parse_repro(name_of_op + " " + dtype.get<std::string>() + " " + axes, shapes);
        CHECK_NOTHROW(check(parsed.what, op->shape()));
        CHECK(std::any_of(kernels().begin(), kernels().end(),
                          [&](const Kernel& k) { return k.op == op->name && !k.broken && k.dtypes.has(parsed.what.dtype); }));
      }
      if (row.is_object())
        for (const Json& kernel : row.value("kernels", Json::array())) CHECK(find_kernel(name_of_op, kernel.get<std::string>()));
    }
  }
  CHECK(files > 0);
}
