// SPDX-License-Identifier: Apache-2.0
#include "findings.hpp"

#include <cstdlib>

namespace simt::detail {

using What = Trouble::What;

Findings findings;
bool sees_plain = false;

void stop(const Trouble& trouble) {
  findings.trouble = trouble;
  if (running_thread == nullptr) throw Fault(describe_trouble());  // the host called a device function
  Fiber lost;
  switch_fiber(running_thread->fiber != nullptr ? *running_thread->fiber : lost, launching_stack);
  std::abort();  // not reached: nobody switches back to an abandoned fiber
}

void stop_with(const char* kind, std::string message, Where where) {
  findings.reported_kind = kind;
  // Note: a string moved over another takes the other's memory, which a thread that is never resumed would lose.
  std::exchange(findings.reported, std::move(message));
  stop({.what = What::reported, .where = where});
}

void report_after_block(const char* kind, std::string message, unsigned thread, Where where) {
  findings.reported_kind = kind;
  findings.reported = std::move(message);
  findings.trouble = {.what = What::reported, .where = where};
  running_thread = running_block.thread + thread;
}

void forget_suspicion() {
  findings.suspicion = {};
  findings.suspected.reset();
}

void suspect(const Trouble& trouble) {
  if (findings.suspicion.what != What::none) return;
  findings.suspicion = trouble;
  findings.suspected_block = device::blockIdx;
  findings.suspected_thread = running_thread;
}

void tell_suspicion() {
  if (findings.suspicion.what == What::none) return;
  findings.trouble = findings.suspicion;
  running_thread = findings.suspected_thread;
  device::blockIdx = findings.suspected_block;
  findings.suspected = std::make_unique<Finding>(describe_trouble());
  findings.trouble = {};
  running_thread = nullptr;
}

}  // namespace simt::detail

namespace simt {

namespace {
std::string sentence(const Finding& f) {
  std::string text = f.kind + ": " + f.message;
  if (!f.file.empty()) text += " [" + f.file + ":" + std::to_string(f.line) + "]";
  return text;
}
}  // namespace

Fault::Fault(Finding finding) : std::runtime_error(sentence(finding)), finding_(std::move(finding)) {}

const Finding* suspected() noexcept { return detail::findings.suspected.get(); }

bool sees_plain_accesses() noexcept { return detail::sees_plain; }

}  // namespace simt
