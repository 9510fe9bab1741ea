// SPDX-License-Identifier: Apache-2.0
// A decoder at work: sequences with a paged key/value cache, fed with tokens pass by pass.  A prefill is a pass with many new
// tokens of a sequence, a step of decoding one with a single one.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "validate/model/machine.hpp"
#include "validate/model/pages.hpp"
#include "validate/model/weights.hpp"

namespace assay {

struct EngineOptions {
  Ops ops = Ops::fused;
  std::int64_t pages = 0, page_size = 256;
};

// Sees each step of a pass.
class Observer {
 public:
  virtual ~Observer() = default;
  virtual void before(const Step&, const Op&, Problem&) = 0;
  virtual void after(const Step&, const Op&, Problem&) = 0;
};

// The new tokens of a sequence.
struct NewTokens {
  std::int64_t sequence;
  std::span<const std::int32_t> tokens;
};

class Engine {
 public:
  Engine(const LoadedModel& model, Machine& machine, const EngineOptions& options);
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  std::int64_t open();                // a new sequence
  void close(std::int64_t sequence);  // gives its pages back
  std::int64_t length(std::int64_t sequence) const { return sequences_.at(sequence).length; }
  const PagePool& pages() const { return pool_; }

  // Runs one pass.  Returns the logits of each sequence, of every new token or of the last alone: rows of `vocab`.  Throws
  // OutOfPages, BadInput for a token outside the vocabulary or too many positions, StepFault.
  std::vector<std::vector<double>> feed(std::span<const NewTokens> news, bool all_logits, Observer* observer = nullptr);

 private:
  struct Sequence {
    std::int64_t length = 0;
    std::vector<std::int32_t> pages{};
  };
  // Elements in the machine's memory; each row begins row_stride elements after the one before it, if that is not 0.
  struct Memory {
    void* data = nullptr;
    DType dtype = f32;
    std::int64_t row_stride = 0;
  };
  struct Freed {
    Machine* machine;
    void operator()(void* p) const { machine->release(p); }
  };
  using Owned = std::unique_ptr<void, Freed>;

  Owned allocate(std::int64_t bytes, std::string_view label);
  Memory memory_of(const std::string& name, std::int64_t elements, DType dtype);
  void place(const Step&, const Op&, Problem&);
  void put(const std::string& name, const std::vector<std::int32_t>& values);
  PassShape enter(std::span<const NewTokens> news, bool all_logits);

  const LoadedModel& model_;
  Machine& machine_;
  EngineOptions options_;
  PagePool pool_;
  std::map<std::int64_t, Sequence> sequences_;
  std::int64_t next_ = 0;
  std::map<const void*, Owned> weights_;                  // by their address on the host
  std::map<std::string, std::pair<Owned, DType>> pools_;  // k_pool and v_pool of each layer
  std::map<std::string, std::pair<Owned, DType>> pass_;   // what the steps of a pass write and read
  PassShape shape_;
};

// The number of pages that sequences of these lengths need.
std::int64_t pages_for(std::span<const std::int64_t> lengths, std::int64_t page_size);

}  // namespace assay
