// SPDX-License-Identifier: Apache-2.0
// What judge and worker tell each other arrives as it was sent.
#include "validate/worker/protocol.hpp"
#include "catch_shim.hpp"

using namespace assay;

TEST_CASE("protocol: an order arrives as it was sent") {
  Order o{.id = (std::int64_t{1} << 53) + 1, .kernel = "warp_row", .sectors = true};
  o.c.op = "layernorm_residual";
  o.c.dtype = bf16;
  for (std::size_t i = 0; i < o.c.dims.extent.size(); ++i) o.c.dims.extent[i] = kMostExtent - static_cast<std::int64_t>(i * i);
  o.c.attributes = {{"epsilon", 1e-6}, {"scale", 0.1}, {"least", 5e-324}, {"negative zero", -0.0}};
  o.c.fill = "large_mean_10";
  o.c.layout = "padded16";
  o.c.seed = ~std::uint64_t{0};
  o.relations = {"rows_permuted", "cols_permuted"};
  const Order p = order_from(to_text(o));
  CHECK(p.id == o.id);
  CHECK(p.kernel == o.kernel);
  CHECK(p.sectors);
  CHECK(p.c.op == o.c.op);
  CHECK(p.c.dtype == o.c.dtype);
  CHECK(p.c.dims == o.c.dims);
  CHECK(p.c.attributes == o.c.attributes);
  CHECK(std::signbit(p.c.attributes.at("negative zero")));
  CHECK(p.c.fill == o.c.fill);
  CHECK(p.c.layout == o.c.layout);
  CHECK(p.c.seed == o.c.seed);
  CHECK(p.relations == o.relations);
  for (const DType t : {f16, bf16, f32}) {
    o.c.dtype = t;
    CHECK(order_from(to_text(o)).c.dtype == t);
  }
}

TEST_CASE("protocol: a reply arrives as it was sent") {
  for (const Reply::Status status :
       {Reply::Status::done, Reply::Status::unsupported, Reply::Status::skipped, Reply::Status::failed}) {
    Reply r{.id = 7,
            .status = status,
            .message = "read of 8 bytes \"past\" the end\nof 'x' — é",
            .outputs = status == Reply::Status::failed,
            .tainted = status == Reply::Status::failed,
            .seconds = 0.1};
    r.traffic["x"] = {1, 2, 3, 4, 5, ~std::uint64_t{0}};
    r.traffic["y"] = {};
    r.related = {true, false, true};
    const Reply s = reply_from(to_text(r));
    CHECK(s.id == 7);
    CHECK(s.status == status);
    CHECK(s.message == "read of 8 bytes \"past\" the end of 'x' — é");  // a reason is one line
    CHECK(s.tainted == r.tainted);
    CHECK(s.outputs == r.outputs);
    CHECK(s.seconds == 0.1);
    CHECK(s.related == r.related);
    REQUIRE(s.traffic.size() == 2);
    const Traffic& t = s.traffic.at("x");
    CHECK(t.read_bytes == 1);
    CHECK(t.written_bytes == 2);
    CHECK(t.unique_read_bytes == 3);
    CHECK(t.unique_written_bytes == 4);
    CHECK(t.read_sectors == 5);
    CHECK(t.written_sectors == ~std::uint64_t{0});
  }
}

TEST_CASE("protocol: a message of bytes that are not UTF-8 does not lose the reply") {
  const Reply s = reply_from(to_text(Reply{.id = 1, .status = Reply::Status::failed, .message = "bytes \xff\xc3("}));
  CHECK(s.id == 1);
  CHECK(s.message.rfind("bytes ", 0) == 0);
}

TEST_CASE("protocol: half an order is refused, not guessed") {
  const std::string text = to_text(Order{.id = 1, .kernel = "naive"});
  for (const std::size_t n : {std::size_t{0}, std::size_t{1}, text.size() / 2, text.size() - 1})
    CHECK_THROWS(order_from(text.substr(0, n)));
  CHECK_THROWS(order_from("{}"));
  CHECK_THROWS(reply_from("{\"id\":1}"));
}
