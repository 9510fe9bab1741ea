// SPDX-License-Identifier: Apache-2.0
// The faults of datasets/ptx/faults_async.txt: the watch finds each in every order of threads, and nothing in the modules as they
// are.
#include <cctype>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "device_hopper.hpp"
#include "ptx_testing.hpp"

namespace {

using namespace simt::testing;
using simt::device::half;
using simt::device::Swizzle;
using simt::device::TensorMap;
namespace ptx = simt::ptx;

const std::string kFolder = std::string(ASSAY_DATASETS_DIR) + "/ptx/";

std::vector<std::string> lines_of(const std::string& file) {
  std::ifstream in(kFolder + file);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

std::string squeezed(const std::string& line) {
  std::string text;
  for (const char c : line)
    if (std::isspace(static_cast<unsigned char>(c)) == 0) text += c;
  return text;
}

// Each `old` line is replaced by those of `now`; `which`: of the places that match, counted from 1.
struct Edit {
  int which = 1;
  std::string old;
  std::vector<std::string> now;
};
struct Fault {
  std::string module, name;
  std::vector<Edit> edits;
};

std::vector<Fault> faults() {
  std::vector<Fault> all;
  int which = 1;
  for (const std::string& line : lines_of("faults_async.txt")) {
    if (line.empty() || line[0] == '#' || line.starts_with("when: ")) continue;
    if (line[0] == '[') {
      std::istringstream words(line.substr(1));
      all.emplace_back();
      words >> all.back().module >> all.back().name;
    } else if (line[0] == '@') {
      which = std::stoi(line.substr(1));
    } else if (line[0] == '-') {
      all.back().edits.push_back({std::exchange(which, 1), squeezed(line.substr(1)), {}});
    } else {
      all.back().edits.back().now.push_back(line.substr(1));
    }
  }
  return all;
}

std::string applied(const Fault& fault) {
  std::vector<std::string> lines = lines_of(fault.module + ".ptx");
  for (const Edit& e : fault.edits) {
    int left = e.which;
    for (std::string& line : lines) {
      if (squeezed(line) != e.old || --left != 0) continue;
      line.clear();
      for (const std::string& now : e.now) line += now + " ";
    }
    CHECK(left <= 0);
  }
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

// The operands of a product of 200 x 72 outputs over 328 channels, in tensors.
struct Product {
  static constexpr int kTokens = 200, kHidden = 328, kOut = 72;
  Buffer<half> x{std::size_t{kTokens} * kHidden}, weight{std::size_t{kOut} * kHidden}, y{std::size_t{kTokens} * kOut}, bias{kOut};
  Buffer<unsigned char> scratch{std::size_t{384} * 4 * 3};

  std::string kind(const std::string& module, const std::string& text, const simt::Options& options) const {
    const Configured on(options);
    const auto parsed = std::make_shared<ptx::Module>(ptx::parse(text, module + ".ptx"));
    const auto program = ptx::decode(parsed, *parsed->functions.back());
    std::vector<std::byte> bytes(program->parameter_bytes);
    std::size_t next = 0;
    const auto add = [&](auto v) { std::memcpy(bytes.data() + program->parameter_at[next++], &v, sizeof v); };
    const auto add_map = [&](const half* p, int rows, int columns, int width, int height, Swizzle swizzle) {
      const std::int64_t stride[] = {columns};
      add(simt::device::tensor_map<half>(p, {columns, rows}, stride, {width, height}, swizzle));
    };
    ptx::Shape shape{.grid = {4, 3}, .block = {128}};
    if (module == "linear_wgmma") {
      add_map(x.get(), kTokens, kHidden, 64, 128, Swizzle::by_128);
      add_map(weight.get(), kOut, kHidden, 64, 32, Swizzle::by_128);
      add_map(y.get(), kTokens, kOut, 32, 64, Swizzle::by_64);
      add(bias.get());
      add(kHidden);
      add(kOut);
      shape = {.grid = {1, 2}, .block = {384}, .dynamic_shared_bytes = 69680};
    } else if (module == "triton_linear_boxes") {
      add(x.get());
      add(weight.get());
      add(y.get());
      add(kTokens);
      add(kHidden);
      add(kOut);
      add(std::int64_t{kHidden});
      add(std::int64_t{kHidden});
      add(std::int64_t{kOut});
      add(scratch.get());
      add(nullptr);
      shape.dynamic_shared_bytes = 12304;
    } else {
      add(x.get());
      add(weight.get());
      add(bias.get());
      add(y.get());
      add(kTokens);
      add(kHidden);
      add(kOut);
      add(std::int64_t{kHidden});
      add(std::int64_t{kHidden});
      add(nullptr);
      add(nullptr);
      shape.dynamic_shared_bytes = 18432;
    }
    return finding_of([&] { ptx::launch(*program, shape, nullptr, bytes); }).kind;
  }
};

TEST_CASE("ptx: the watch finds every asynchronous fault in every order of threads", "[simt][ptx][hopper][watch]") {
  const Product product;
  std::vector<Fault> all = faults();
  CHECK(all.size() >= 75);
  for (const char* const module : {"linear_wgmma", "triton_gelu_linear_sm90", "triton_linear_boxes"})
    all.push_back({module, "", {}});
  for (const Fault& fault : all) {
    const std::string text = applied(fault);
    for (const simt::ThreadOrder order : kOrders)
      for (std::uint64_t seed = 1; seed <= (order == simt::ThreadOrder::shuffle ? 3 : 1); ++seed) {
        const std::string kind =
            product.kind(fault.module, text, {.order = order, .seed = seed, .time_limit_s = kHang_s, .watch = true});
        INFO(fault.module << " " << fault.name << " order " << static_cast<int>(order) << " seed " << seed << ": " << kind);
        CHECK((kind == "none") == fault.name.empty());
      }
  }
}

}  // namespace
