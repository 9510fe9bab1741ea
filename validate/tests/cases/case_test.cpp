// SPDX-License-Identifier: Apache-2.0
#include "validate/cases/case.hpp"

#include "catch_shim.hpp"
#include "validate/base/error.hpp"
#include "validate/tests/test_ops.hpp"

using namespace assay;

namespace {

const OpShape& layernorm() { return test::ops()[0]; }
Repro parse(std::string_view text) { return parse_repro(text, test::ops()); }

std::string error(std::string_view text) {
  try {
    parse(text);
  } catch (const BadInput& e) {
    return e.what();
  }
  return "no error";
}

}  // namespace

TEST_CASE("case: a repro line is read and written") {
  const std::string_view text =
      "layernorm_residual/warp_row f16 rows=3 cols=257 epsilon=1e-06 fill=large_mean_10 layout=offset2 seed=7";
  const Repro r = parse(text);
  CHECK(r.kernel == "warp_row");
  CHECK(r.what.op == "layernorm_residual");
  CHECK(r.what.dtype == f16);
  CHECK(r.what.dims[Axis::rows] == 3);
  CHECK(r.what.dims[Axis::cols] == 257);
  CHECK(r.what.attributes.at("epsilon") == 1e-6);
  CHECK(r.what.fill == "large_mean_10");
  CHECK(r.what.layout == "offset2");
  CHECK(r.what.seed == 7);
  CHECK(repro(r.what, layernorm(), r.kernel) == text);
}

TEST_CASE("case: a repro line may say by which judge it was printed, which is no part of the case") {
  const std::string text = "layernorm_residual/warp_row f16 rows=3 cols=257 seed=7";
  const Repro r = parse(text + " judge=3a1d4321");
  CHECK(r.judge == "3a1d4321");
  CHECK(repro(r.what, layernorm(), r.kernel) == text);
  CHECK(parse(text).judge.empty());
  for (const char* wrong : {"judge=", "judge=xyz", "judge=0123456789abcdef0"})
    CHECK(error(text + " " + wrong).find("a version of the judge was expected") != std::string::npos);
}

TEST_CASE("case: what is usual is left out; order and spaces are free") {
  const Repro r =
      parse("  layernorm_residual bf16 seed=18446744073709551615  cols=1 layout=contiguous epsilon=1e-5\trows=0 fill=normal\n");
  CHECK(r.kernel.empty());
  CHECK(r.what.attributes.empty());
  CHECK(repro(r.what, layernorm()) == "layernorm_residual bf16 rows=0 cols=1 seed=18446744073709551615");
}

TEST_CASE("case: attributes come back bit for bit") {
  for (const double v : {0.0, 0x1.5555555555555p-2, 0x1p-149, 1e-12, 123456789.123456789, 0x1.fffffefffffffp+127, -0.1}) {
    Case c;
    c.op = "layernorm_residual";
    c.dims[Axis::cols] = 1;
    c.attributes["epsilon"] = v;
    const auto back = parse(repro(c, layernorm())).what.attributes.at("epsilon");
    CHECK(std::bit_cast<std::uint64_t>(back) == std::bit_cast<std::uint64_t>(v));
  }
}

TEST_CASE("case: whatever is wrong is said in one sentence") {
  const std::pair<const char*, const char*> lines[] = {
      {"", "repro line '': expected 'op/kernel dtype axis=extent ... seed=number'."},
      {"layernorm_residual", "repro line 'layernorm_residual': expected 'op/kernel dtype axis=extent ... seed=number'."},
      {"some_atention f16", "unknown op 'some_atention'. Did you mean 'some_attention'?"},
      {"zzz f16", "unknown op 'zzz'. Known: layernorm_residual, some_product, some_attention."},
      {"layernorm_residual/ f16 rows=1 cols=1", "'layernorm_residual/': no kernel after the slash."},
      {"layernorm_residual f17 rows=1 cols=1", "unknown dtype 'f17'. Did you mean 'f16'?"},
      {"layernorm_residual i64 rows=1 cols=1", "unknown dtype 'i64'. Known: f16, bf16, f32."},
      {"layernorm_residual f16 rows=1 cols", "'cols': expected key=value."},
      {"layernorm_residual f16 rows=1 colls=1", "layernorm_residual: unknown key 'colls'. Did you mean 'cols'?"},
      {"layernorm_residual f16 rows=1 cols=1 epsilom=1", "layernorm_residual: unknown key 'epsilom'. Did you mean 'epsilon'?"},
      {"layernorm_residual f16 rows=1 cols=1 rows=1", "key 'rows' is given twice."},
      {"layernorm_residual f16 rows=1", "layernorm_residual: axis 'cols' is missing."},
      {"layernorm_residual f16 rows=-1 cols=1", "rows=-1: an extent cannot be negative."},
      {"layernorm_residual f16 rows=1 cols=0", "cols=0: layernorm_residual needs at least 1."},
      {"layernorm_residual f16 rows=one cols=1", "rows=one: not a whole number."},
      {"layernorm_residual f16 rows= cols=1", "rows=: not a whole number."},
      {"layernorm_residual f16 rows=1.5 cols=1", "rows=1.5: not a whole number."},
      {"layernorm_residual f16 rows=+1 cols=1", "rows=+1: not a whole number."},
      {"layernorm_residual f16 rows=99999999999999999999 cols=1", "rows=99999999999999999999: the value is out of range."},
      {"layernorm_residual f16 rows=1099511627777 cols=1", "rows=1099511627777: more than 2^40."},
      {"layernorm_residual f16 rows=1099511627776 cols=65",
       "layernorm_residual: the axes together have more than 2^46 elements."},
      {"layernorm_residual f16 rows=1 cols=1 epsilon=tiny", "epsilon=tiny: not a number."},
      {"layernorm_residual f16 rows=1 cols=1 epsilon=nan", "epsilon=nan: not finite."},
      {"layernorm_residual f16 rows=1 cols=1 epsilon=inf", "epsilon=inf: not finite."},
      {"layernorm_residual f16 rows=1 cols=1 epsilon=1e-99", "epsilon=1e-99: too small for a float, with which kernels compute."},
      {"layernorm_residual f16 rows=1 cols=1 epsilon=1e99", "epsilon=1e99: too large for a float, with which kernels compute."},
      {"layernorm_residual f16 rows=1 cols=1 epsilon=1e999", "epsilon=1e999: the value is out of range."},
      {"layernorm_residual f16 rows=1 cols=1 fill=large_men_10", "unknown fill 'large_men_10'. Did you mean 'large_mean_10'?"},
      {"layernorm_residual f16 rows=1 cols=1 fill=probe_signs", "fill 'probe_signs' does not apply to these extents in f16."},
      {"layernorm_residual f16 rows=1 cols=1 layout=offset3", "unknown layout 'offset3'. Did you mean 'offset2'?"},
      {"layernorm_residual f32 rows=1 cols=1 layout=offset2", "layout 'offset2' breaks the alignment of f32 elements."},
      {"layernorm_residual f16 rows=1 cols=1 seed=-1", "seed=-1: a seed cannot be negative."},
      {"layernorm_residual f16 rows=1 cols=1 seed=18446744073709551616", "seed=18446744073709551616: the value is out of range."},
      {"layernorm_residual f16 rows=1 cols=1 seed=0x7", "seed=0x7: not a whole number."},
  };
  for (const auto& [text, sentence] : lines) CHECK(error(text) == sentence);
}

TEST_CASE("case: elements do not overflow, and an empty axis hides no other") {
  Case c;
  c.dims[Axis::rows] = 0;
  c.dims[Axis::cols] = 5;
  CHECK(elements(c, layernorm()) == 0);
  c.dims[Axis::rows] = kMostExtent;
  c.dims[Axis::cols] = 64;
  CHECK(elements(c, layernorm()) == kMostElements);
  c.dims[Axis::cols] = kMostExtent;
  CHECK(elements(c, layernorm()) == kMostElements + 1);

  Case a;  // kv_heads divides heads: it counts once
  for (const AxisUse& use : test::ops()[2].axes) a.dims[use.axis] = 8;
  CHECK(elements(a, test::ops()[2]) == 8 * 8 * 8 * 8 * 8);
}

TEST_CASE("case: the distance of words") {
  CHECK(edit_distance("", "") == 0);
  CHECK(edit_distance("", "abc") == 3);
  CHECK(edit_distance("kitten", "sitting") == 3);
  CHECK(edit_distance("flaw", "lawn") == 2);
  CHECK(nearest("smke", {"smoke", "edges"}) == "smoke");
  CHECK(nearest("zzzzz", {"smoke", "edges"}).empty());
  CHECK(unknown("suite", "smke", {"smoke", "edges"}) == "unknown suite 'smke'. Did you mean 'smoke'?");
  CHECK(unknown("kernel", "x", {}) == "unknown kernel 'x'. None is known.");
  CHECK(unknown("op", std::string(100000, 'a'), {"linear"}).size() < 300);
}

TEST_CASE("case: a choice is read and told by its word") {
  const std::string line = "some_attention f16 batch=1 seq_q=2 seq_k=3 heads=4 kv_heads=2 head_dim=8 mask=causal seed=1";
  const Repro r = parse(line);
  CHECK(r.what.attributes.at("mask") == 1);
  CHECK(repro(r.what, test::ops()[2]) == line);
  CHECK(error("some_attention f16 batch=1 seq_q=2 seq_k=3 heads=4 kv_heads=2 head_dim=8 mask=casual") ==
        "unknown mask 'casual'. Did you mean 'causal'?");
  CHECK(error("some_attention f16 batch=1 seq_q=2 seq_k=3 heads=4 kv_heads=3 head_dim=8") ==
        "heads=4: not a multiple of kv_heads=3.");
}
