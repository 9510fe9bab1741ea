// SPDX-License-Identifier: Apache-2.0
// The goldens, and sound kernels on simt, against tensors that nobody here made: datasets/captured/manifest.json says which,
// where they come from and what they may differ by.  captured_test.py runs what is hidden here where the package is to be had.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "catch_shim.hpp"
#include "onnx_tensor.hpp"
#include "simt/machine.hpp"
#include "validate/judge/compare.hpp"
#include "validate/problem/image.hpp"

namespace assay {
namespace {

using Json = nlohmann::json;
namespace fs = std::filesystem;
using test::onnx::NamedTensor;

const Json& manifest() {
  static const Json loaded = Json::parse(std::ifstream(fs::path(ASSAY_DATASETS_DIR) / "captured/manifest.json"));
  return loaded;
}
fs::path root() {
  const char* named = std::getenv("ASSAY_CAPTURED");
  return named ? named : manifest()["origin"]["root"].get<std::string>();
}
std::string read(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  if (!in) throw std::runtime_error(path.string() + " cannot be read");
  return text.str();
}

fs::path file_of(const Json& c, const std::string& file) {
  return c["path"].get<std::string>() + (file == "model.onnx" ? "/" : "/test_data_set_0/") + file;
}
// Lines of sha256sum, one a file of these cases, with paths below the root.
std::set<std::string> sums(const Json& cases) {
  std::set<std::string> lines;
  for (const Json& c : cases) {
    lines.insert(c["model"].get<std::string>() + "  " + file_of(c, "model.onnx").string());
    for (const Json& t : c["tensors"]) lines.insert(t["sha256"].get<std::string>() + "  " + file_of(c, t["file"]).string());
  }
  return lines;
}
// Whether the files below a folder have these sums; says which have not.
bool sums_hold(const fs::path& below, const std::set<std::string>& lines) {
  std::FILE* check = ::popen(("cd '" + below.string() + "' && sha256sum --check --quiet --strict -").c_str(), "w");
  REQUIRE(check);
  for (const std::string& line : lines) std::fputs((line + "\n").c_str(), check);
  return ::pclose(check) == 0;
}

// The values of a tensor of the manifest in the order that the op wants them.
std::vector<double> values_of(const Json& c, const Json& t) {
  const std::string bytes = read(root() / file_of(c, t["file"]));
  NamedTensor tensor;
  if (t.contains("initializer")) {
    for (NamedTensor& i : test::onnx::parse_model(bytes).initializers)
      if (i.name == t["initializer"].get<std::string>()) tensor = std::move(i);
  } else {
    tensor = test::onnx::parse_tensor(bytes);
  }
  std::vector<std::int64_t> shape = tensor.shape, stride(shape.size(), 1);
  for (std::size_t a = shape.size(); a-- > 1;) stride[a - 1] = stride[a] * shape[a];
  std::int64_t first = 0;
  if (t.contains("at"))
    for (const std::int64_t place : t["at"].get<std::vector<std::int64_t>>()) {
      first += place * stride.front();
      shape.erase(shape.begin());
      stride.erase(stride.begin());
    }
  std::vector<std::size_t> order(shape.size());
  for (std::size_t a = 0; a < order.size(); ++a) order[a] = a;
  if (t.contains("order")) order = t["order"].get<std::vector<std::size_t>>();
  std::int64_t n = 1;
  for (const std::int64_t extent : shape) n *= extent;
  std::vector<double> out;
  for (std::int64_t i = 0; i < n; ++i) {
    std::int64_t from = first, left = i;
    for (std::size_t a = order.size(); a-- > 0; left /= shape[order[a]]) from += left % shape[order[a]] * stride[order[a]];
    out.push_back(tensor.values.at(static_cast<std::size_t>(from)));
  }
  return out;
}

Case case_of(const Json& c) {
  Case out{.op = c["op"], .dtype = *parse_dtype(c["dtype"].get<std::string>()), .source = {}, .reduced = {}};
  const OpShape shape = find_op(out.op)->shape();
  for (const auto& [axis, extent] : c["axes"].items())
    if (const AxisUse* use = find_axis(shape, axis)) out.dims[use->axis] = extent;
  for (const auto& [name, v] : c["attributes"].items())
    out.attributes[name] = v.is_string() ? value_of(*find_attribute(shape, name), v.get<std::string>()) : v.get<double>();
  return out;
}
Numerics numerics_of(const Json& tolerance) {
  Numerics n;
  const Json& given = manifest()["tolerances"].at(tolerance.get<std::string>()).at("numerics");
  if (given.contains("accumulate")) n.accumulate = *parse_dtype(given["accumulate"].get<std::string>());
  n.function_error = given.value("function_error", n.function_error);
  return n;
}

// A case of the manifest with its tensors in memory that simt knows, and its golden.
class Captured {
 public:
  explicit Captured(const Json& json) : c(case_of(json)), op(*find_op(c.op)), placements(place(op, c)), problem(op.make()) {
    for (std::size_t i = 0; i < placements.size(); ++i) {
      const std::string name(op.tensors[i].name);
      memory.push_back(static_cast<std::byte*>(simt::allocate(placements[i].bytes, 0, name)));
      if (json["tensors"].contains(name)) values[i] = values_of(json, json["tensors"][name]);
      if (is_given(op.tensors[i]) && placements[i].tensor.rank) write(i);
    }
    attach(*problem, c, placements, memory);
    problem->set_errors(Errors::coherent);
  }
  ~Captured() {
    for (std::byte* p : memory) simt::release(p);
  }
  Captured(const Captured&) = delete;
  Captured& operator=(const Captured&) = delete;

  bool is_output(std::size_t i) const { return op.tensors[i].role == Role::output; }
  void write(std::size_t i) {
    const Tensor& t = placements[i].tensor;
    REQUIRE(static_cast<std::int64_t>(values.at(i).size()) == t.size());
    for (std::int64_t e = 0; e < t.size(); ++e) encode(t.dtype, memory[i], e, values[i][static_cast<std::size_t>(e)]);
  }
  void solve() {
    REQUIRE(problem->legal().why == "");
    problem->solve();
  }
  // Calls visit(number of the output, its tensor) for the outputs that were stored, with their stored values.
  template <class Visit>
  void each_stored(Visit visit) {
    int output = 0;
    for (std::size_t i = 0; i < placements.size(); ++i) {
      if (!is_output(i)) continue;
      if (values.contains(i)) {
        Tensor got = placements[i].tensor;
        got.dtype = c.dtype == f64 ? f64 : got.dtype;
        std::vector<std::byte> image(static_cast<std::size_t>(got.bytes()));
        got.data = image.data();
        REQUIRE(static_cast<std::int64_t>(values[i].size()) == got.size());
        for (std::int64_t e = 0; e < got.size(); ++e) got.set(e, values[i][static_cast<std::size_t>(e)]);
        visit(output, got);
      }
      ++output;
    }
  }
  // Elements of the stored outputs that lie farther from the golden than the tolerance lets them.
  std::int64_t wrong(const Numerics& numerics, double* margin = nullptr) {
    std::int64_t n = 0;
    each_stored([&](int output, const Tensor& got) {
      const Comparison found = compare(*problem, numerics, output, got, false);
      n += found.wrong;
      if (margin) *margin = std::max(*margin, found.margin);
    });
    return n;
  }

  Case c;
  const Op& op;
  std::vector<Placement> placements;
  std::unique_ptr<Problem> problem;
  std::vector<std::byte*> memory;
  std::map<std::size_t, std::vector<double>> values;  // as stored, by tensor
};

}  // namespace

TEST_CASE("captured: the golden gives what is stored, and so do sound kernels on simt", "[.captured]") {
  CHECK(sums_hold(root(), sums(manifest()["cases"])));
  std::map<std::string, double> margins;
  int kernels_run = 0;
  for (const Json& json : manifest()["cases"]) {
    INFO(json["path"]);
    const auto kinds = test::onnx::parse_model(read(root() / file_of(json, "model.onnx"))).nodes;
    const auto node = std::find_if(kinds.begin(), kinds.end(), [](auto& k) { return k != "Constant" && k != "Transpose"; });
    CHECK((node != kinds.end() && *node == json["node"].get<std::string>()));
    Captured captured(json);
    captured.solve();
    double margin = 0;
    CHECK(captured.wrong(numerics_of(json["tolerance"]), &margin) == 0);
    margins[captured.c.op] = std::max(margins[captured.c.op], margin);

    for (const Kernel& k : kernels()) {
      if (k.op != captured.c.op || k.broken || !k.on_simt || !k.dtypes.has(captured.c.dtype)) continue;
      if (!k.supports(captured.problem->args())) continue;
      INFO(k.name);
      const std::size_t bytes = k.workspace_bytes(captured.problem->args());
      void* workspace = bytes ? simt::allocate(bytes, 0, "workspace") : nullptr;
      simt::configure({});
      k.on_simt(captured.problem->args(), {.workspace = workspace});
      simt::release(workspace);
      int output = 0;
      for (std::size_t i = 0; i < captured.placements.size(); ++i) {
        if (!captured.is_output(i)) continue;
        Tensor got = captured.placements[i].tensor;
        got.data = captured.memory[i];
        CHECK(compare(*captured.problem, k.numerics, output++, got, false).wrong == 0);
      }
      ++kernels_run;
    }
  }
  CHECK(kernels_run >= 2 * 70);
  for (const auto& [op, margin] : margins) std::printf("  %-14s worst err/tolerance %.3f\n", op.c_str(), margin);
  std::printf("  %zu cases of %s %s; %d runs of kernels on simt\n", manifest()["cases"].size(),
              manifest()["origin"]["package"].get<std::string>().c_str(),
              manifest()["origin"]["version"].get<std::string>().c_str(), kernels_run);
}

TEST_CASE("captured: a thousandth on a stored value is seen, and so is every input that was changed", "[.captured]") {
  for (const Json& json : manifest()["cases"]) {
    INFO(json["path"]);
    const Numerics numerics = numerics_of(json["tolerance"]);
    Captured captured(json);
    captured.solve();
    for (auto& [tensor, stored] : captured.values) {
      if (!captured.is_output(tensor)) continue;
      std::int64_t unseen = 0;
      for (std::size_t i = 0; i < stored.size(); i += 1 + stored.size() / 64) {
        double& v = stored[i];
        const double was = v;
        v += std::max(1e-3, 1e-3 * std::fabs(v));
        unseen += captured.wrong(numerics) != 1;
        v = was;
      }
      CHECK(unseen == 0);
    }
    for (auto& [tensor, given] : captured.values) {
      if (captured.is_output(tensor)) continue;
      INFO(captured.op.tensors[tensor].name);
      const auto before = given;
      const std::int64_t places = captured.c.dims[Axis::vocab];
      const bool integers = !is_float(captured.placements[tensor].tensor.dtype);
      for (std::size_t i = 0; i < given.size(); ++i)
        given[i] = integers ? static_cast<double>((static_cast<std::int64_t>(given[i]) + 1) % places)
                            : 1.5 * given[i] + 0.25 * static_cast<double>(1 + i % 3);
      captured.write(tensor);
      captured.solve();
      CHECK(captured.wrong(numerics) > 0);
      given = before;
      captured.write(tensor);
    }
  }
}

TEST_CASE("captured: a byte of a file is seen", "[.captured]") {
  const Json& first = manifest()["cases"][0];
  const std::set<std::string> lines = sums(Json::array({first}));
  const fs::path copy = fs::temp_directory_path() / ("assay_captured_" + std::to_string(::getpid()));
  fs::create_directories((copy / file_of(first, "model.onnx")).parent_path().parent_path());
  fs::copy(root() / first["path"], copy / first["path"], fs::copy_options::recursive);
  CHECK(sums_hold(copy, lines));
  const fs::path changed = copy / file_of(first, "output_0.pb");
  std::string bytes = read(changed);
  bytes.back() = static_cast<char>(bytes.back() ^ 1);
  std::ofstream(changed, std::ios::binary) << bytes;
  CHECK_FALSE(sums_hold(copy, lines));
  fs::remove_all(copy);
}

}  // namespace assay
