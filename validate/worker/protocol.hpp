// SPDX-License-Identifier: Apache-2.0
// What a judge and a worker say to each other: JSON over a SOCK_SEQPACKET socket on descriptor 3, one order, one reply.  An order
// travels with two descriptors of shared memory: the inputs' images, which the worker may only read, and room for the outputs'.
// The judge makes every byte, so a worker knows nothing of fills, layouts or seeds.  docs/worker-protocol.md describes it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "validate/problem/packing.hpp"
#include "validate/worker/backend.hpp"

namespace assay {

inline constexpr int kWorkerProtocol = 1;
inline constexpr int kWorkerSocket = 3;
inline constexpr int kSocketLost = 76;  // exit code of a worker that could not answer (EX_PROTOCOL)
inline constexpr int kRuns = 2;         // each with another garbage in the outputs, another order or another stream
inline constexpr std::byte kGarbage[kRuns] = {std::byte{0xff}, std::byte{0x5a}};

// A tensor of an order.  Absent: of rank 0, with no bytes.
struct OrderTensor {
  std::string name;
  Role role = Role::input;
  Placement place;
  std::optional<std::size_t> input{};   // where its image begins in a set of inputs: of an input, and of an updated output
  std::optional<std::size_t> output{};  // where an output's image goes in the outputs of a run
  std::optional<std::size_t> over{};    // of an output that shares the memory of an input: that input's place in the list
};

// One launch of the kernel.
struct OrderRun {
  Variation how{};
  std::byte garbage{};     // what every output holds before it, but for those whose values are given
  std::size_t inputs = 0;  // the set of input images that it works on
  bool replayed = false;   // captured on the set before, replayed on this one; it is the last where that cannot be
};

struct Order {
  std::int64_t id = 0;
  std::string op, kernel;
  DType dtype = DType::f32;
  std::vector<OrderTensor> tensors;  // in the order of the op's contract
  std::map<std::string, std::variant<double, std::string>> attributes;
  std::size_t input_bytes = 0, input_sets = 1;  // of one set, in the first memory
  std::size_t output_bytes = 0;                 // of one run, in the second memory: run k's begin at k * output_bytes
  std::vector<OrderRun> runs;
};

// Begins the message of a kernel that went past the machine that was to watch it.
inline constexpr std::string_view kNotWatchable = "not watchable";

struct Reply {
  std::int64_t id = 0;
  enum class Status { done, unsupported, skipped, failed } status = Status::done;
  std::string message;   // why not done
  bool outputs = false;  // failed, but what the first run left in the outputs is there
  bool tainted = false;  // something went wrong on the machine itself: this worker is not to be trusted again
  double seconds = 0;    // of the first run
  std::size_t ran = 0;   // runs whose outputs are there
  std::map<std::string, Traffic> traffic;
  std::vector<SiteTraffic> sites{};  // where sectors were counted, those that moved most
};

// The tensors, attributes and sizes of a case's order; id and runs are still to be said.
Order order_of(const Op& op, const Case& c, const Packing& packing, std::string_view kernel);

std::string to_text(const Order&);
Order order_from(const std::string& text);  // throws std::exception
std::string to_text(const Reply&);
Reply reply_from(const std::string& text);

}  // namespace assay
