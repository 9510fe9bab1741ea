// SPDX-License-Identifier: Apache-2.0
// What was found: why the launch stopped, and what is only suspected.  Any part that runs on a fiber stops the launch here; the
// launching stack makes words of it afterwards (report.cpp).
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "machine.hpp"
#include "threads.hpp"
#include "trouble.hpp"

namespace simt::detail {

struct Findings {
  Trouble trouble;
  const char* reported_kind = "";  // of Trouble::What::reported
  std::string reported;
  Trouble suspicion;  // of suspected(), with the block and the thread
  device::uint3 suspected_block;
  Thread* suspected_thread = nullptr;
  std::unique_ptr<Finding> suspected;
};
extern Findings findings;
extern bool sees_plain;  // accesses without ld and st are findings

inline bool is_stopped() { return findings.trouble.what != Trouble::What::none; }

// Sets the trouble and leaves the running fiber for good.  Called by the host, it throws Fault.
[[noreturn]] void stop(const Trouble& trouble);
// Ends the launch with a finding of this kind and message.
[[noreturn, gnu::cold]] void stop_with(const char* kind, std::string message, Where where);
// Reports the same after the block has ended, as a finding of `thread`.
void report_after_block(const char* kind, std::string message, unsigned thread, Where where);
inline void left_behind(std::string message, unsigned thread, Where where) {
  report_after_block("left_behind", std::move(message), thread, where);
}

void forget_suspicion();
// Keeps the first of a launch.
void suspect(const Trouble& trouble);
// Makes words of it, after the launch.
void tell_suspicion();

// Makes the finding of the trouble.  Note: report.cpp defines it, which knows every part.
Finding describe_trouble();

}  // namespace simt::detail
