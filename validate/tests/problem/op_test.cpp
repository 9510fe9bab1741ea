// SPDX-License-Identifier: Apache-2.0
// The generated tables: what every op and every kernel in the tree must have.
#include "validate/problem/op.hpp"

#include <omp.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <set>
#include <string>

#include "catch_shim.hpp"
#include "validate/problem/image.hpp"

using namespace assay;

TEST_CASE("op: names are unique and found again") {
  std::set<std::string> names;
  REQUIRE_FALSE(ops().empty());
  for (const Op& op : ops()) {
    CHECK(names.insert(std::string(op.name)).second);
    CHECK(find_op(op.name) == &op);
  }
  CHECK(find_op("") == nullptr);
  CHECK(find_op("layernorm_residua") == nullptr);
  std::set<std::pair<std::string, std::string>> pairs;
  for (const Kernel& k : kernels()) {
    CHECK(pairs.emplace(k.op, k.name).second);
    CHECK(find_kernel(k.op, k.name) == &k);
    CHECK(find_op(k.op) != nullptr);
  }
  CHECK(find_kernel("layernorm_residual", "") == nullptr);
  CHECK(find_kernel("", "naive") == nullptr);
}

TEST_CASE("op: every op has a sound kernel, and every kernel says what the judge needs") {
  for (const Op& op : ops()) {
    CAPTURE(op.name);
    CHECK(std::any_of(kernels().begin(), kernels().end(), [&](const Kernel& k) { return k.op == op.name && !k.broken; }));
  }
  for (const Kernel& k : kernels()) {
    CAPTURE(k.op, k.name);
    const Op& op = *find_op(k.op);
    const auto tiles = std::count_if(k.tiles.begin(), k.tiles.end(), [](const Tile& t) { return t.bytes_or_extent > 0; });
    CHECK((k.broken || tiles >= 1));
    for (const Tile& t : k.tiles) {
      if (t.bytes_or_extent == 0) continue;
      CHECK(std::any_of(op.axes.begin(), op.axes.end(), [&](const AxisUse& a) { return a.axis == t.axis; }));
      for (const DType dtype : {f16, bf16, f32})
        if (k.dtypes.has(dtype)) CHECK(t.extent(dtype) >= 1);
    }
    CHECK(k.dtypes.bits != 0);
    CHECK(k.min_arch >= 75);
    CHECK(k.numerics.chain.lanes >= 1);
    CHECK(k.numerics.chain.extra >= 0);
    CHECK(is_float(k.numerics.accumulate));
    CHECK((is_vendor(k) || k.on_simt != nullptr));
    CHECK_FALSE(k.about.empty());
    CHECK((k.about.rfind("FAULT: ", 0) == 0) == k.broken);
    CHECK((k.about.find("\nCaught by: ") != std::string_view::npos) == k.broken);
  }
}

TEST_CASE("op: a contract names its axes and tensors once, and shapes its tensors by its axes") {
  for (const Op& op : ops()) {
    CAPTURE(op.name);
    CHECK_FALSE(op.about.empty());
    std::set<Axis> axes;
    for (const AxisUse& a : op.axes) {
      CHECK(axes.insert(a.axis).second);
      CHECK(a.least >= 0);
    }
    CHECK_FALSE(axes.empty());
    std::set<Axis> used;
    std::set<std::string> names;
    int outputs = 0;
    for (const TensorSpec& t : op.tensors) {
      CHECK(names.insert(std::string(t.name)).second);
      CHECK_FALSE(t.axes.empty());
      CHECK(t.axes.size() <= static_cast<std::size_t>(kMaxRank));
      for (const Extent& e : t.axes) CHECK((axes.count(e.axis) == 1 || e.axis == Axis::one));
      for (const Extent& e : t.axes)
        if (e.is_axis()) used.insert(e.axis);
      used.erase(Axis::one);
      if (!t.options.present_if.empty()) CHECK(find_attribute(op.shape(), t.options.present_if) != nullptr);
      outputs += t.role == Role::output;
    }
    CHECK(outputs >= 1);
    CHECK(used == axes);
    for (const auto& [attribute, standard, choices] : op.attributes) {
      const auto asks = [&](const TensorSpec& t) { return t.options.present_if == attribute && t.name == attribute; };
      if (std::none_of(op.tensors.begin(), op.tensors.end(), asks)) CHECK(names.insert(std::string(attribute)).second);
      CHECK(std::isfinite(standard));
    }
    for (const Fill& f : op.hooks.fills) {
      CHECK_FALSE(f.shows.empty());
      CHECK(f.value != nullptr);
    }
  }
}

TEST_CASE("op: a golden has the same bits with any number of threads") {
  const int before = omp_get_max_threads();
  for (const Op& op : ops()) {
    Case c{.op = std::string(op.name), .dtype = f32, .seed = 5};
    for (const AxisUse& a : op.axes) {
      const bool many = a.axis == Axis::rows || a.axis == Axis::tokens || a.axis == Axis::seq_q || a.axis == Axis::seq_k;
      c.dims[a.axis] = std::max<std::int64_t>(a.least, many ? 19 : 40);
    }
    const std::vector<Placement> placements = place(op, c);
    std::vector<std::vector<std::byte>> memory;
    std::vector<std::byte*> images;
    for (std::size_t i = 0; i < placements.size(); ++i) {
      memory.emplace_back(placements[i].bytes);
      fill_image(op, c, static_cast<int>(i), placements[i], memory.back().data(), {});
      images.push_back(is_given(op.tensors[i]) ? memory[i].data() : nullptr);
    }
    std::vector<double> first;
    for (const int threads : {1, 2, 16}) {
      CAPTURE(op.name, threads);
      omp_set_num_threads(threads);
      const auto problem = op.make();
      attach(*problem, c, placements, images);
      REQUIRE(problem->legal());
      problem->solve();
      const auto golden = problem->golden(0);
      if (first.empty()) first.assign(golden.begin(), golden.end());
      CHECK(std::equal(first.begin(), first.end(), golden.begin(), golden.end()));
    }
  }
  omp_set_num_threads(before);
}

TEST_CASE("op: a small problem of every op is solved, with a bound for each element and a cost") {
  for (const Op& op : ops()) {
    CAPTURE(op.name);
    Case c{.op = std::string(op.name), .dtype = f32};
    for (const AxisUse& a : op.axes) c.dims[a.axis] = std::max<std::int64_t>(a.least, 8);
    const auto problem = op.make();
    REQUIRE(problem->tensors().size() == op.tensors.size());
    const std::vector<Placement> placements = place(op, c);
    std::vector<std::vector<std::byte>> memory;
    std::vector<std::byte*> images;
    for (std::size_t i = 0; i < placements.size(); ++i) {
      memory.emplace_back(placements[i].bytes);
      fill_image(op, c, static_cast<int>(i), placements[i], memory.back().data(), {});
    }
    for (std::size_t i = 0; i < memory.size(); ++i) images.push_back(is_given(op.tensors[i]) ? memory[i].data() : nullptr);
    attach(*problem, c, placements, images);
    REQUIRE(problem->legal());
    problem->solve();
    int output = 0;
    for (std::size_t i = 0; i < op.tensors.size(); ++i) {
      if (op.tensors[i].role != Role::output) continue;
      const auto golden = problem->golden(output);
      REQUIRE(static_cast<std::int64_t>(golden.size()) == placements[i].tensor.size());
      for (const Kernel& k : kernels()) {
        if (k.op != op.name) continue;
        std::int64_t bad = 0;
        for (std::size_t e = 0; e < golden.size(); ++e) {
          const double t = problem->bound(k.numerics, output, static_cast<std::int64_t>(e));
          const bool sees_nothing = op.tensors[i].name == "lse" && golden[e] == -std::numeric_limits<double>::infinity();
          bad += !sees_nothing && (!std::isfinite(golden[e]) || !(t >= 0) || !std::isfinite(t));
        }
        CAPTURE(k.name);
        CHECK(bad == 0);
      }
      ++output;
    }
    const Cost cost = problem->cost();
    std::size_t written = 0;
    for (std::size_t i = 0; i < op.tensors.size(); ++i)
      if (op.tensors[i].role == Role::output) written += placements[i].bytes;
    CHECK(cost.bytes_written == static_cast<double>(written));
    CHECK(cost.bytes_read > 0);
    CHECK(cost.flops >= 0);
    CHECK(cost.unfused_bytes >= cost.bytes());
  }
}
