// SPDX-License-Identifier: Apache-2.0
// Orders and replies between judge and worker: JSON over a SOCK_SEQPACKET socket on descriptor 3, one reply to each order.  What
// they say before is in listing.hpp.  An order carries two descriptors of shared memory: input images, which the worker may only
// read, and space for output images. The judge makes every byte, so a worker knows nothing of fills, layouts or seeds.
// docs/worker-protocol.md specifies it.
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

inline constexpr int kWorkerProtocol = 2;
inline constexpr int kWorkerSocket = 3;
inline constexpr int kMachineFailed = 75;  // exit code of a worker that the machine failed (EX_TEMPFAIL): the case is skipped
inline constexpr int kSocketLost = 76;     // exit code of a worker that could not reply (EX_PROTOCOL)
inline constexpr int kRuns = 2;            // of a case, with different garbage in the outputs and another order or stream
inline constexpr std::byte kGarbage[kRuns] = {std::byte{0xff}, std::byte{0x5a}};

// A tensor of an order.  An absent one has rank 0 and no bytes.
struct OrderTensor {
  std::string name;
  Role role = Role::input;
  Placement place;
  std::optional<std::size_t> input{};   // offset of its image in a set of inputs; for inputs and updated outputs
  std::optional<std::size_t> output{};  // offset of its image in the outputs of a run; for outputs
  std::optional<std::size_t> over{};    // for an in-place output: the index in the list of the input whose memory it shares
};

inline constexpr std::size_t kMostCalls = 64;  // OrderRun::calls

struct OrderRun {
  RunOptions how{};
  std::byte garbage{};     // fills every output before the launch, unless its initial values are given
  std::size_t inputs = 0;  // index of the set of input images
  // The set of input images of a launch right before this one, whose outputs nobody judges.  Its workspace stays as it left it.
  std::optional<std::size_t> after{};
  std::size_t calls = 1;  // how many such launches, one after the other
  bool keeps = false;     // parts of the outputs' rows stay as the run before left them (docs/worker-protocol.md)
  bool replayed = false;  // captured on the last run's inputs, replayed on these; a worker that cannot capture stops before it
};

struct Order {
  std::int64_t id = 0;
  std::string op, kernel;
  DType dtype = DType::f32;
  std::vector<OrderTensor> tensors;  // in the order of the op's contract
  std::map<std::string, std::variant<double, std::string>> attributes;
  std::size_t input_bytes = 0, input_sets = 1;  // bytes of one set, and number of sets in the first memory
  std::size_t output_bytes = 0;                 // of one run; run k's outputs begin at k * output_bytes in the second memory
  std::vector<OrderRun> runs;
};

// Begins the reason of a case that was skipped since the machine is at fault.
inline constexpr std::string_view kMachine = "machine: ";

// Begins the message about a kernel that stored without st(), where the watch cannot see it.
inline constexpr std::string_view kNotWatchable = "not watchable";

struct Reply {
  std::int64_t id = 0;
  enum class Status { done, unsupported, skipped, failed } status = Status::done;
  std::string message;                     // the reason, unless done
  bool outputs = false;                    // failed, but the outputs of the first run are in place
  bool tainted = false;                    // the fault may outlast this order, so the judge replaces the worker
  double seconds = 0;                      // of the first run
  std::size_t ran = 0;                     // number of runs whose outputs are in place
  std::map<std::string, Traffic> traffic;  // by tensor, and "workspace"
  std::size_t workspace = 0;               // bytes that the kernel asked for
  std::vector<SiteTraffic> sites{};        // if sectors were counted: the source lines that moved most bytes
  // Of a kernel of a composite op whose steps have numerics of their own: those of the step that computes each output.
  std::vector<Numerics> steps{};
  std::string fidelity{};  // how closely what has run does what a GPU does; empty: as the kernel is listed
};

// An order with the tensors, attributes and sizes of a case.  The caller sets id, input_sets and runs.
Order order_of(const Op& op, const Case& c, const Packing& packing, std::string_view kernel);

std::string to_text(const Order&);
Order order_from(const std::string& text);     // like reply_from(), throws std::exception if the text is malformed
std::int64_t id_of(const std::string& order);  // also of an order that order_from() refuses; 0: it has none
std::string to_text(const Reply&);
Reply reply_from(const std::string& text);

}  // namespace assay
