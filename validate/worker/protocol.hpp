// SPDX-License-Identifier: Apache-2.0
// What a judge and a worker say to each other, over a SOCK_SEQPACKET socket on descriptor 3: one order, one reply.  An order
// travels with two descriptors of shared memory: the inputs' images, which it may only read, and room for the outputs'
// images of two runs and of one more a relation.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "validate/problem/packing.hpp"
#include "validate/worker/traffic.hpp"

namespace assay {

inline constexpr int kWorkerSocket = 3;
inline constexpr int kSocketLost = 76;  // exit code of a worker that could not answer (EX_PROTOCOL)
inline constexpr int kRuns = 2;         // each with another garbage in the outputs, another order or another stream
inline constexpr std::byte kGarbage[kRuns] = {std::byte{0xff}, std::byte{0x5a}};

struct Order {
  std::int64_t id = 0;
  std::string kernel;
  Case c;
  bool sectors = false;  // count sectors too
  std::vector<std::string> relations{};
  bool watch = false;  // races and uninitialised reads are findings
};

struct Reply {
  std::int64_t id = 0;
  enum class Status { done, unsupported, skipped, failed } status = Status::done;
  std::string message;   // why not done
  bool outputs = false;  // failed, but what the first run left in the outputs is there
  bool tainted = false;  // something went wrong on the machine itself: this worker is not to be trusted again
  double seconds = 0;    // of the first run
  std::map<std::string, Traffic> traffic;
  std::vector<bool> related{};       // whether that relation applied, and its outputs are there
  std::vector<SiteTraffic> sites{};  // with sectors, those that moved most
};

std::string to_text(const Order&);
Order order_from(const std::string& text);
std::string to_text(const Reply&);
Reply reply_from(const std::string& text);

}  // namespace assay
