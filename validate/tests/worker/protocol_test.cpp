// SPDX-License-Identifier: Apache-2.0
// Questions, answers, orders and replies are read as they were written.
#include "validate/worker/protocol.hpp"
#include "validate/worker/listing.hpp"

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "catch_shim.hpp"

using namespace assay;

namespace {

Order order_of_line(const std::string& line) {
  std::vector<OpShape> shapes;
  for (const Op& op : ops()) shapes.push_back(op.shape());
  const Case c = parse_repro(line, shapes).what;
  const Op& op = *find_op(c.op);
  Order o = order_of(op, c, pack(op, c), "naive");
  o.id = (std::int64_t{1} << 53) + 1;
  o.input_sets = 2;
  o.runs = {{.how = {.order = 0, .seed = ~std::uint64_t{0}, .sectors = true, .watch = true}, .garbage = std::byte{0xff}},
            {.how = {.order = 1}, .garbage = std::byte{0x5a}, .after = 1, .calls = 20, .keeps = true},
            {.how = {.order = 2, .seed = 1}, .garbage = std::byte{0x5a}, .inputs = 1, .replayed = true}};
  return o;
}

}  // namespace

TEST_CASE("protocol: an order is read as it was written, whatever the op") {
  for (const char* line :
       {"layernorm_residual f16 rows=3 cols=257 layout=offset2 seed=7", "softmax bf16 rows=2 cols=9 layout=padded seed=1",
        "attention_forward f32 batch=1 seq_q=3 seq_k=5 heads=4 kv_heads=2 head_dim=8 mask=causal seed=1",
        "add f32 rows=0 cols=4 seed=1"}) {
    CAPTURE(line);
    const Order o = order_of_line(line);
    const std::string text = to_text(o);
    CHECK(text.size() < 60'000);  // one packet
    const Order p = order_from(text);
    CHECK(to_text(p) == text);
    CHECK(p.id == o.id);
    CHECK(p.op == o.op);
    CHECK(p.dtype == o.dtype);
    CHECK(p.attributes == o.attributes);
    REQUIRE(p.tensors.size() == o.tensors.size());
    for (std::size_t i = 0; i < o.tensors.size(); ++i) {
      CHECK(p.tensors[i].name == o.tensors[i].name);
      CHECK(p.tensors[i].role == o.tensors[i].role);
      CHECK(p.tensors[i].input == o.tensors[i].input);
      CHECK(p.tensors[i].output == o.tensors[i].output);
      CHECK(p.tensors[i].place.bytes == o.tensors[i].place.bytes);
      CHECK(p.tensors[i].place.offset == o.tensors[i].place.offset);
      CHECK(p.tensors[i].place.tensor.shape == o.tensors[i].place.tensor.shape);
      CHECK(p.tensors[i].place.tensor.stride == o.tensors[i].place.tensor.stride);
    }
    REQUIRE(p.runs.size() == 3);
    CHECK(p.runs[0].how.seed == ~std::uint64_t{0});
    CHECK((p.runs[0].how.sectors && p.runs[0].how.watch && !p.runs[0].replayed));
    CHECK((!p.runs[0].after && p.runs[1].after == 1 && p.runs[1].calls == 20 && p.runs[1].keeps));
    CHECK((p.runs[2].inputs == 1 && p.runs[2].replayed && p.runs[2].garbage == std::byte{0x5a}));
  }
}

TEST_CASE("protocol: an attribute keeps its bits, a choice is sent as its word") {
  Order o = order_of_line("attention_forward f32 batch=1 seq_q=3 seq_k=5 heads=4 kv_heads=2 head_dim=8 mask=causal seed=1");
  CHECK(std::get<std::string>(o.attributes.at("mask")) == "causal");
  o.attributes = {{"epsilon", 1e-6}, {"scale", 0.1}, {"least", 5e-324}, {"negative zero", -0.0}, {"word", "no number"}};
  const Order p = order_from(to_text(o));
  CHECK(p.attributes == o.attributes);
  CHECK(std::signbit(std::get<double>(p.attributes.at("negative zero"))));
}

TEST_CASE("protocol: an order that leaves its memory or has another version is refused") {
  const Order sound = order_of_line("softmax f16 rows=3 cols=65 seed=1");
  CHECK_NOTHROW(order_from(to_text(sound)));
  const auto refused = [&](auto&& spoil) {
    Order o = sound;
    spoil(o);
    CHECK_THROWS(order_from(to_text(o)));
  };
  refused([](Order& o) { o.tensors[0].input = o.input_bytes - 1; });
  refused([](Order& o) { o.tensors[1].output = ~std::size_t{0}; });
  refused([](Order& o) { o.tensors[0].place.tensor.shape[0] = std::int64_t{1} << 62; });
  refused([](Order& o) { o.tensors[0].place.tensor.shape[0] = -1; });
  refused([](Order& o) { o.tensors[0].place.tensor.stride[0] = std::int64_t{1} << 62; });
  refused([](Order& o) { o.tensors[0].place.bytes -= 2; });
  refused([](Order& o) { o.tensors[1].over = 7; });
  refused([](Order& o) { o.runs[1].inputs = 2; });
  std::string text = to_text(sound);
  const std::string version = "\"protocol\":2";
  REQUIRE(text.find(version) != text.npos);
  text.replace(text.find(version), version.size(), "\"protocol\":1");
  CHECK_THROWS(order_from(text));
}

TEST_CASE("protocol: the messages in docs/worker-protocol.md are valid") {
  std::ifstream page(std::string(ASSAY_DATASETS_DIR) + "/../docs/worker-protocol.md");
  std::vector<std::string> blocks;
  bool inside = false;
  for (std::string line; std::getline(page, line);) {
    if (line == "```json") {
      blocks.emplace_back();
      inside = true;
    } else if (line == "```") inside = false;
    else if (inside) blocks.back() += line;
  }
  REQUIRE(blocks.size() == 4);
  const auto parsed = [](const std::string& text) { return nlohmann::json::parse(text); };
  CHECK(is_question(blocks[0]));
  CHECK(parsed(question(1, 0)) == parsed(blocks[0]));
  CHECK(parsed(answer(blocks[0], listing_from(blocks[1], 1))) == parsed(blocks[1]));
  CHECK_NOTHROW(kernels_of(listing_from(blocks[1], 1).kernels));
  CHECK(parsed(to_text(order_from(blocks[2]))) == parsed(blocks[2]));
  CHECK(parsed(to_text(reply_from(blocks[3]))) == parsed(blocks[3]));
}

TEST_CASE("protocol: the name of a device has no character that a terminal obeys") {
  const std::string text = R"({"id":1,"status":0,"backend":"host","device":"a\u001b[31m \u009b[31m é","checks":[],"kernels":[]})";
  CHECK(listing_from(text, 1).device == "a?[31m ?[31m é");
}

TEST_CASE("protocol: a reply is read as it was written") {
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
    r.ran = 4;
    r.fidelity = "exact";
    const Reply s = reply_from(to_text(r));
    CHECK(s.id == 7);
    CHECK(s.status == status);
    CHECK(s.message == "read of 8 bytes \"past\" the end of 'x' — é");  // a reason is one line
    CHECK(s.tainted == r.tainted);
    CHECK(s.outputs == r.outputs);
    CHECK(s.seconds == 0.1);
    CHECK(s.ran == 4);
    CHECK(s.fidelity == "exact");
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

TEST_CASE("protocol: a message that is not UTF-8 does not lose the reply") {
  const Reply s = reply_from(to_text(Reply{.id = 1, .status = Reply::Status::failed, .message = "bytes \xff\xc3("}));
  CHECK(s.id == 1);
  CHECK(s.message.rfind("bytes ", 0) == 0);
}

TEST_CASE("protocol: an incomplete order is refused") {
  const std::string text = to_text(order_of_line("add f32 rows=2 cols=4 seed=1"));
  for (const std::size_t n : {std::size_t{0}, std::size_t{1}, text.size() / 2, text.size() - 1})
    CHECK_THROWS(order_from(text.substr(0, n)));
  CHECK_THROWS(order_from("{}"));
  CHECK_THROWS(reply_from("{\"id\":1}"));
}

TEST_CASE("protocol: what a worker does not check is named, and accesses without ld and st where a machine knows the others") {
  CHECK(left_unchecked("host", {"bounds", "inputs"}) == std::vector<std::string>{"reads", "races", "uninitialised", "traffic"});
  CHECK(left_unchecked("simt", {"bounds", "inputs", "reads", "races", "uninitialised", "traffic"}) ==
        std::vector<std::string>{"plain"});
  CHECK(left_unchecked("simt", {kChecks.begin(), kChecks.end()}).empty());
}

TEST_CASE("protocol: the kernels of a worker are read as it lists them, in as many answers as it takes") {
  Listing all{.refused = {}, .backend = "host", .device = "a machine", .checks = {"inputs"}, .kernels = {}};
  for (int i = 0; i < 1000; ++i)
    all.kernels.push_back({.op = "softmax",
                           .name = "kernel_" + std::to_string(i),
                           .about = "bytes \xff\xc3( and é",
                           .code = "0123456789abcdef",
                           .numerics = "accumulate=f16 chain=32+5",
                           .dtypes = {"f16", "bf16"},
                           .tiles = {{"rows", 4}},
                           .tile_bytes = {{"cols", 512}},
                           .deterministic = i % 2 == 0,
                           .finite_inputs = i % 3 == 0,
                           .position_matters = i % 5 == 0});
  std::vector<ListedKernel> seen;
  int answers = 0;
  for (; seen.size() < all.kernels.size(); ++answers) {
    const std::string text = answer(question(7, seen.size()), all);
    REQUIRE(text.size() < 65'536);
    const Listing part = listing_from(text, 7);
    CHECK((part.backend == "host" && part.device == "a machine" && part.checks == all.checks && part.total == 1000));
    REQUIRE(!part.kernels.empty());
    seen.insert(seen.end(), part.kernels.begin(), part.kernels.end());
    CHECK_THROWS(listing_from(text, 8));
  }
  CHECK(answers > 1);
  const std::vector<Kernel> kernels = kernels_of(seen);
  REQUIRE(kernels.size() == 1000);
  for (std::size_t i = 0; i < 1000; ++i) {
    const Kernel& k = kernels[i];
    CHECK(k.name == all.kernels[i].name);
    CHECK((k.dtypes.has(f16) && k.dtypes.has(bf16) && !k.dtypes.has(f32)));
    CHECK((k.deterministic == (i % 2 == 0) && k.finite_inputs == (i % 3 == 0) && k.position_matters == (i % 5 == 0)));
    CHECK((k.numerics.accumulate == f16 && k.numerics.chain == Chain{.lanes = 32, .extra = 5} && k.declares_numerics));
    CHECK((k.tiles[0].axis == Axis::rows && k.tiles[0].bytes_or_extent == 4 && !k.tiles[0].of_bytes));
    CHECK((k.tiles[1].axis == Axis::cols && k.tiles[1].bytes_or_extent == 512 && k.tiles[1].of_bytes));
    CHECK(k.tiles[2].bytes_or_extent == 0);
  }
}

TEST_CASE("protocol: a kernel that declares no numerics is held to sums in f32 in any order") {
  const std::vector<ListedKernel> list{
      {.op = "add", .name = "plain", .about = {}, .code = {}, .numerics = {}, .dtypes = {"f32"}, .tiles = {}}};
  const Kernel k = kernels_of(list)[0];
  CHECK(!k.declares_numerics);
  CHECK(k.numerics == Numerics{.accumulate = f32, .chain = {.lanes = 1}});
  CHECK((k.deterministic && !k.finite_inputs && !k.position_matters));
  CHECK(listed(k).numerics.empty());
}

TEST_CASE("protocol: a question of another version, or about something else, is refused") {
  const Listing all{.refused = {}, .backend = "host", .device = "host", .checks = {}, .kernels = {}};
  const auto refusal = [&](const std::string& text) { return listing_from(answer(text, all), 1).refused; };
  CHECK(refusal(question(1, 0)).empty());
  CHECK(refusal(R"({"protocol":3,"id":1,"ask":"kernels","from":0})") == "the question has protocol 3, this worker speaks 2");
  CHECK(refusal(R"({"protocol":2,"id":1,"ask":"times","from":0})") == "the question is not about kernels");
  CHECK(listing_from(answer(question(1, 1u << 30), all), 1).kernels.empty());
  for (const char* text : {"", "{}", "[]", "null", R"({"id":1,"status":0})", R"({"id":1.5,"status":0})",
                           R"({"id":1,"status":0,"backend":"host","checks":[],"kernels":{}})",
                           R"({"id":1,"status":0,"backend":"host","checks":[],"kernels":[],"total":1e300})",
                           R"({"id":1,"status":0,"backend":"host","checks":[],"kernels":[],"total":-1})"})
    CHECK_THROWS(listing_from(text, 1));
}
