// SPDX-License-Identifier: Apache-2.0
// Passes that are kept and run again, the likeliest token on the device, and random weights.
#include <bit>
#include <cmath>

#include "catch_shim.hpp"
#include "model/fixture.hpp"
#include "pretended_clock.hpp"
#include "validate/model/bench.hpp"
#include "validate/model/machine/kernel_machine.hpp"
#include "validate/model/sample.hpp"
#include "validate/values/random.hpp"

namespace assay {
namespace {

// The likeliest tokens by feed(), and by next(), whose steps are kept.
std::vector<std::vector<std::int32_t>> likeliest(Fixed& f, std::vector<std::vector<std::int32_t>> all, int count, bool kept,
                                                 bool at_once) {
  KernelMachine machine(*f.backend, f.choice);
  f.options.prompts_at_once = at_once;
  Engine engine(f.model, machine, f.options);
  std::vector<std::int64_t> sequences;
  for (std::size_t b = 0; b < all.size(); ++b) sequences.push_back(engine.open());
  for (int k = 0; k < count; ++k) {
    std::vector<NewTokens> news;
    for (std::size_t b = 0; b < all.size(); ++b)
      if (b != 1 || k < 3)  // one ends before the others
        news.push_back({sequences[b], std::span(all[b]).subspan(static_cast<std::size_t>(engine.length(sequences[b])))});
    if (k == 3 && all.size() > 1) engine.close(sequences[1]);
    std::vector<std::int32_t> tokens;
    if (kept) tokens = engine.next(news);
    else
      for (const auto& logits : engine.feed(news, false)) tokens.push_back(greedy(logits));
    REQUIRE(tokens.size() == news.size());
    for (std::size_t i = 0, b = 0; i < news.size(); ++i, ++b) {
      if (b == 1 && k >= 3) ++b;
      all[b].push_back(tokens[i]);
    }
  }
  return all;
}

TEST_CASE("model: steps that are kept give the tokens of steps that are made for each pass", "[model]") {
  const std::vector<std::vector<std::int32_t>> prompts[] = {
      {{3, 1, 4}}, {{3, 1, 4}, {1, 5, 9}, {2, 6, 5}}, {{3, 1, 4, 1, 5}, {9}, {2, 6}, {5, 3, 5}, {8}}, {{4, 4}, {2, 7}}};
  for (const char* const family : kFamilies)
    for (const auto& p : prompts) {
      Fixed of_feed(family, Ops::fused, {"naive"}, f32), f(family, p.size() % 2 ? Ops::joined : Ops::fused, {"naive"}, f32);
      INFO(family << ", " << p.size() << " prompts");
      const auto right = likeliest(of_feed, p, 7, false, false);
      CHECK(likeliest(f, p, 7, true, false) == right);
      CHECK(likeliest(f, p, 7, true, true) == right);
    }
}

TEST_CASE("model: passes that follow each other without the host give the same tokens", "[model]") {
  for (const char* const family : {"llama", "gpt2"}) {
    Fixed f(family, Ops::joined, {"naive"}, f32);
    const auto right = likeliest(f, {{3, 1, 4}, {1, 5}, {2}}, 12, false, false);
    KernelMachine machine(*f.backend, f.choice);
    Engine engine(f.model, machine, f.options);
    std::vector<std::vector<std::int32_t>> all{{3, 1, 4}, {1, 5}, {2}};
    std::vector<std::int64_t> sequences{engine.open(), engine.open(), engine.open()};
    for (const int count : {1, 2, 1, 5, 3}) {
      std::vector<NewTokens> news;
      for (std::size_t b = 0; b < 3; ++b)
        news.push_back({sequences[b], std::span(all[b]).subspan(static_cast<std::size_t>(engine.length(sequences[b])))});
      for (const auto& tokens : engine.next(news, count))
        for (std::size_t b = 0; b < 3; ++b) all[b].push_back(tokens[b]);
      for (std::size_t b = 0; b < 3; ++b) CHECK(engine.length(sequences[b]) + 1 == static_cast<std::int64_t>(all[b].size()));
    }
    CHECK(all[0] == right[0]);
    CHECK(all[2] == right[2]);
    all[1].resize(right[1].size());
    CHECK(all[1] == right[1]);  // of which likeliest() ends sooner
  }
}

// simt with a clock that is not true, which records launches as a GPU does, and counts bytes.
class Recording final : public test::PretendedClock {
 public:
  std::size_t most = 0;                     // bytes in use at once
  std::map<void*, std::size_t> workspaces;  // in use, and their bytes
  std::string_view name() const override { return "simt"; }
  std::size_t memory_in_use() override { return simt::bytes_in_use(); }
  void* allocate(std::size_t bytes, std::size_t offset, std::string_view label) override {
    void* const p = PretendedClock::allocate(bytes, offset, label);
    if (label == "workspace") workspaces[p] = bytes;
    most = std::max(most, memory_in_use());
    return p;
  }
  void release(void* p) noexcept override {
    workspaces.erase(p);
    PretendedClock::release(p);
  }
  void fill(void* p, std::byte value, std::size_t bytes) override { std::memset(p, std::to_integer<int>(value), bytes); }
  std::unique_ptr<Replay> record(std::vector<BoundLaunch> launches, bool) override {
    struct All final : Replay {
      All(Recording& r, std::vector<BoundLaunch> l) : on(r), all(std::move(l)) {}
      void run(int times) override {
        for (int i = 0; i < times; ++i)
          for (const BoundLaunch& l : all) on.run(l.launcher, l.args, l.workspace, {});
      }
      Recording& on;
      std::vector<BoundLaunch> all;
    };
    return std::make_unique<All>(*this, std::move(launches));
  }
};

TEST_CASE("model: a machine with a clock takes the fastest kernel for each kind of steps", "[model]") {
  const std::vector<std::vector<std::int32_t>> prompts{{3, 1, 4}, {1, 5, 9}, {2, 6, 5}};
  for (const char* const family : {"llama", "gpt2", "gpt_neox"})
    for (const Ops ops : {Ops::fused, Ops::joined}) {
      INFO(family);
      Fixed of_feed(family, ops, {}, f32);
      const auto right = likeliest(of_feed, prompts, 5, false, false);
      const Kernel* first = nullptr;
      for (const bool slow : {false, true}) {
        auto made = std::make_unique<Recording>();
        Recording& on = *made;
        if (slow) on.slow = first->on_simt;
        Fixed f(family, ops, {}, f32, std::move(made));
        CHECK(likeliest(f, prompts, 5, true, true) == right);
        KernelMachine machine(on, f.choice);
        Engine engine(f.model, machine, f.options);
        const std::vector<std::int32_t> token{3};
        engine.next(std::vector<NewTokens>{{engine.open(), token}});
        int steps = 0;
        const StepTime* linear = nullptr;
        for (const StepTime& t : engine.step_times()) {
          steps += t.count;
          CHECK(t.us > 0);
          if (t.op == "linear") linear = &t;
        }
        REQUIRE(linear);
        CHECK(steps == static_cast<int>(plan(f.model.decoder, {.batch = 1, .seq = 1}, ops).size()));
        if (slow) CHECK(linear->kernel != first->name);
        first = find_kernel("linear", linear->kernel);
        // The kernel that --kernel names is taken, fast or not.
        const KernelChoice choice({"linear/naive@1"}, ASSAY_DATASETS_DIR, every_step(f.model.decoder, ops), on, f32);
        KernelMachine other(on, choice);
        Engine again(f.model, other, f.options);
        again.next(std::vector<NewTokens>{{again.open(), token}});
        int naive = 0;
        for (const StepTime& t : again.step_times()) naive += t.kernel == "naive" ? t.count : 0;
        int expected = 0;
        for (const Step& s : plan(f.model.decoder, {.batch = 1, .seq = 1}, ops)) expected += s.op == "linear" && s.layer == 1;
        CHECK(naive == expected);
      }
    }
}

TEST_CASE("model: bench's times are those of the passes", "[model]") {
  for (const std::int64_t ahead : {1, 2, 100}) {
    auto made = std::make_unique<Recording>();
    Recording& on = *made;
    Fixed f("llama", Ops::joined, {}, bf16, std::move(made));
    f.options.prompts_at_once = true;
    KernelMachine machine(on, f.choice);
    Engine engine(f.model, machine, f.options);
    const TimedDevice device(on, 1e9);
    const ModelTimes t =
        time_model(f.model, engine, f.choice, device, {.batch = 3, .prompt = 7, .outputs = 10, .ahead = ahead}, 7);
    // Every launch takes 20 us there; the likeliest token is one more.
    const double pass = 20e-6 * static_cast<double>(plan(f.model.decoder, {.batch = 1, .seq = 1}, Ops::joined).size() + 1);
    CHECK(t.first_token_s == Approx(pass));
    CHECK(t.token_s == Approx(pass));
    CHECK(t.tokens_s == Approx(30 / (10 * pass)));
    // Two layers of 16 channels: q 16, k 8, v 8, o 16; gate, up, down 24; two norms; the last norm; 32 tokens.  The cache: k and
    // v of 8 channels in two layers at 7 + 5 positions of 3 sequences.
    CHECK(t.least_bytes == 2 * (2 * ((16 + 8 + 8 + 16) * 16 + 3 * 24 * 16 + 2 * 16) + 16 + 32 * 16 + 3 * 12 * 2 * 8 * 2));
    CHECK(t.floor_share() == Approx(t.least_bytes / 1e9 / pass));
    CHECK(engine.pages().free() == engine.pages().total());
  }
}

// The bytes of docs/model.md, for a llama with Ops::joined, besides workspace.
std::size_t by_formula(const LoadedModel& model, const TimedShape& shape, std::int64_t page_size) {
  const reference::Decoder& d = model.decoder;
  const std::int64_t s = size_of(model.dtype), q = d.heads * d.head_dim, k = d.kv_heads * d.head_dim, h = d.hidden, f = d.ffn;
  const auto layers = static_cast<std::int64_t>(d.layers.size());
  const auto rows = static_cast<std::int64_t>(std::bit_ceil(static_cast<std::size_t>(shape.batch)));  // of a step of decoding
  const std::int64_t tables = d.head.data == d.embedding.data ? head_rows(d) : d.vocab + head_rows(d);
  const std::int64_t weights = s * (tables * h + layers * ((2 * q + 2 * k) * h + 3 * h * f + 2 * h) + h);
  const auto pages = [&](std::int64_t positions) { return (positions + page_size - 1) / page_size; };  // of a sequence
  const std::int64_t all = pages(shape.prompt + shape.outputs);
  const std::int64_t cache = 2 * s * layers * k * shape.batch * all * page_size;
  const auto pass = [&](std::int64_t batch, std::int64_t tokens, std::int64_t width) {
    const std::int64_t integers = 2 * tokens + batch * (1 + width);  // ids and positions, lengths and tables of pages
    return tokens * (s * (6 * h + 3 * q + 4 * k + f) + 4 * d.heads) + batch * s * (h + head_rows(d)) + 4 * integers;
  };
  const std::int64_t chosen = 4 * (shape.batch + rows * all * page_size);  // tokens: behind the prompts, and all that are decoded
  return static_cast<std::size_t>(weights + cache + pass(shape.batch, shape.batch * shape.prompt, pages(shape.prompt)) +
                                  pass(rows, rows, all) + chosen);
}

TEST_CASE("model: a device gives the bytes that bench needs, and if fewer are free, none", "[model]") {
  for (const char* const family : {"llama", "gpt2", "gpt_neox"})
    for (const Ops ops : {Ops::joined, Ops::fused}) {
      auto made = std::make_unique<Recording>();
      Recording& on = *made;
      const std::size_t before = on.memory_in_use();
      Fixed f(family, ops, {}, bf16, std::move(made));
      f.options.prompts_at_once = true;
      KernelMachine machine(on, f.choice);
      Engine engine(f.model, machine, f.options);
      for (const std::int64_t batch : {1, 3}) {
        INFO(family << ", batch " << batch << ", ops " << static_cast<int>(ops));
        const TimedShape shape{.batch = batch, .prompt = 9, .outputs = 4, .ahead = 2};
        const std::size_t needed = memory_needed(f.model, f.choice, f.options, shape);
        TimedDevice device(on, 1e9);
        device.free = needed - 1;
        const int held = on.held;
        std::string why;
        try {
          time_model(f.model, engine, f.choice, device, shape, 7);
        } catch (const NoMemory& e) {
          why = e.what();
        }
        CHECK(has(why, "of device memory and"));
        CHECK(on.held == held);
        device.free = needed;
        on.most = 0;
        const ModelTimes t = time_model(f.model, engine, f.choice, device, shape, 7);
        CHECK(t.needed == needed);
        CHECK(t.memory - before == needed);
        CHECK(on.most - before == needed);
        std::size_t workspace = 0;
        for (const auto& [p, bytes] : on.workspaces) workspace += bytes;
        CHECK(workspace > 0);
        if (f.model.decoder.rms() && ops == Ops::joined)
          CHECK(needed == workspace + by_formula(f.model, shape, f.options.page_size));
      }
    }
}

TEST_CASE("model: a prompt of 32,768 tokens needs what the page says", "[model]") {
  const LoadedModel model = random_model(read_config("reports/inference/llama-3.2-1b.json"), bf16, 7);
  const std::unique_ptr<Backend> backend = open_simt();
  const KernelChoice choice({}, ASSAY_DATASETS_DIR, every_step(model.decoder, Ops::joined), *backend, bf16);
  const TimedShape shape{.batch = 1, .prompt = 32768, .outputs = 128, .ahead = 1};
  REQUIRE(shape.prompt + shape.outputs <= model.decoder.positions);
  const std::size_t tensors = by_formula(model, shape, 256);
  CHECK(tensors == 5'437'975'704);
  const std::size_t needed = memory_needed(model, choice, {.ops = Ops::joined, .prompts_at_once = true}, shape);
  REQUIRE(needed >= tensors);
  CHECK(needed - tensors < std::size_t{1} << 30);  // attention_forward/unfused would keep 64 GiB of scores
}

TEST_CASE("model: the next token is the first of the largest logits", "[model]") {
  const std::unique_ptr<Backend> backend = open_simt();
  for (const DType dtype : {f16, bf16, f32})
    for (const std::int64_t vocab : {1, 7, 8, 513, 1000, 5000}) {
      const std::int64_t rows = 5, stride = (vocab + 7) / 8 * 8;
      std::vector<std::byte> logits(static_cast<std::size_t>(rows * stride * size_of(dtype)));
      NextTokens next{.logits = {.dtype = dtype, .rank = 2, .shape = {rows, vocab}, .stride = {stride, 1}}};
      std::vector<std::vector<double>> values(static_cast<std::size_t>(rows));
      for (std::int64_t r = 0; r < rows; ++r)
        for (std::int64_t v = 0; v < stride; ++v) {
          // Row 0: few values, so the largest comes often; 1: a NaN first; 2: NaN within; 3: all -inf.
          double x = static_cast<double>(random::index(7, static_cast<std::uint64_t>(r * stride + v), r == 0 ? 3 : 2000)) - 1000;
          if ((r == 1 && v == 0) || (r == 2 && v > 0 && v % 3 == 0)) x = NAN;
          if (r == 3) x = -INFINITY;
          if (v >= vocab) x = 5000;  // behind the row
          encode(dtype, logits.data(), r * stride + v, x);
          if (v < vocab) values[static_cast<std::size_t>(r)].push_back(decode(dtype, logits.data(), r * stride + v));
        }
      const auto on_device = [&](const void* data, std::size_t bytes) {
        void* const p = backend->allocate(bytes, 0, "t");
        backend->write(p, data, bytes);
        return p;
      };
      std::vector<std::int32_t> tokens(5, -1), positions{4, 0, 5, 6, 7}, lengths{5, 0, 6, 7, 8};
      next.logits.data = on_device(logits.data(), logits.size());
      next.next = static_cast<std::int32_t*>(on_device(tokens.data(), 20));
      next.positions = static_cast<std::int32_t*>(on_device(positions.data(), 20));
      next.lengths = static_cast<std::int32_t*>(on_device(lengths.data(), 20));
      backend->run(on_simt::next_tokens, &next, nullptr, {.order = 2, .seed = 3});
      backend->read(tokens.data(), next.next, 20);
      backend->read(positions.data(), next.positions, 20);
      backend->read(lengths.data(), next.lengths, 20);
      for (std::size_t r = 0; r < 5; ++r) {
        INFO(name(dtype) << " " << vocab << " row " << r);
        CHECK(tokens[r] == greedy(values[r]));
      }
      CHECK(positions == std::vector<std::int32_t>{5, 0, 6, 7, 8});
      CHECK(lengths == std::vector<std::int32_t>{6, 0, 7, 8, 9});
      for (void* p : {next.logits.data, static_cast<void*>(next.next), static_cast<void*>(next.positions),
                      static_cast<void*>(next.lengths)})
        backend->release(p);
    }
}

TEST_CASE("model: random weights fill the shape of a config", "[model]") {
  for (const char* const family : kFamilies) {
    const ModelConfig config = read_config(kFolder + family + "/config.json");
    const LoadedModel model = random_model(config, bf16, 7), right = loaded(kFolder + family, bf16);
    const auto same = [](const Tensor& a, const Tensor& b) {
      CHECK(a.rank == b.rank);
      CHECK(a.shape == b.shape);
      CHECK(a.stride == b.stride);
    };
    same(model.decoder.embedding, right.decoder.embedding);
    same(model.decoder.head, right.decoder.head);
    same(model.decoder.position_embedding, right.decoder.position_embedding);
    same(model.decoder.beta, right.decoder.beta);
    for (std::size_t l = 0; l < model.decoder.layers.size(); ++l) {
      const auto &a = model.decoder.layers[l], &b = right.decoder.layers[l];
      same(a.wq, b.wq);
      same(a.bk, b.bk);
      same(a.w_gate, b.w_gate);
      same(a.w_up, b.w_up);
      same(a.w_down, b.w_down);
      double squares = 0;
      for (std::int64_t i = 0; i < a.w_up.size(); ++i) squares += a.w_up.at(i) * a.w_up.at(i);
      CHECK(std::sqrt(squares / static_cast<double>(a.w_up.size())) == Approx(0.02).margin(0.003));
      CHECK(a.gamma1.at(0) == 1);
    }
    CHECK((model.decoder.head.data == model.decoder.embedding.data) == config.tied);
  }
}

}  // namespace
}  // namespace assay
