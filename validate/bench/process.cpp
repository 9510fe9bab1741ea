// SPDX-License-Identifier: Apache-2.0
// The pipe protocol between a timing process and its parent: lines of JSON over the child's standard input and output.
//   child   {"timer": 1, "commit": ..., "build": ...}          once, at its start
//   parent  {"line": repro, "kernels": [...], "inputs": file, "outputs": file, ...}
//   child   {"judge": kernel}                                   its outputs are in the file `outputs`; waits for {}
//   child   {"kernels": [...]}
//   parent  {"copy": bytes}
//   child   {"dram": {...}}                                     the bytes that the counters saw in such a copy
// The files are the parent's shared memory, opened as /proc/PID/fd/N.
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <nlohmann/json.hpp>

#include "validate/backends/backends.hpp"
#include "validate/base/child.hpp"
#include "validate/base/error.hpp"
#include "validate/base/exit.hpp"
#include "validate/base/stopwatch.hpp"
#include "validate/base/version.hpp"
#include "validate/bench/device.hpp"
#include "validate/bench/timer.hpp"
#include "validate/tasks/selection.hpp"
#include "validate/worker/plugin.hpp"
#include "validate/worker/protocol.hpp"

namespace assay {

namespace {

using Json = nlohmann::ordered_json;
constexpr int kProtocol = 1;  // checked, since the child may be another build (--ab)

Json to_json(const KernelTimes& t) {
  Json j{{"kernel", t.kernel},
         {"left_out", t.left_out},
         {"failed", t.failed},
         {"slow", t.slow},
         {"cold_us", t.cold_us},
         {"steady_us", t.steady.us},
         {"launches", t.steady.launches},
         {"graph", t.steady.graph},
         {"tensor_bytes", t.tensor_bytes},
         {"workspace_bytes", t.workspace_bytes},
         {"other_bytes", t.other_bytes},
         {"code", t.code}};
  if (!t.functions.empty()) j["functions"] = json_of(t.functions);
  if (t.dram) j["dram"] = json_of(*t.dram);
  if (!t.copy_us.empty()) j["copy_us"] = t.copy_us;
  return j;
}

KernelTimes times_from(const Json& j) {
  KernelTimes t;
  t.kernel = j.at("kernel");
  t.left_out = j.at("left_out");
  t.failed = j.at("failed");
  t.slow = j.value("slow", false);  // Note: older builds do not send it
  t.cold_us = j.at("cold_us").get<std::vector<double>>();
  t.steady = {j.at("steady_us").get<std::vector<double>>(), j.at("launches"), j.at("graph")};
  t.tensor_bytes = j.at("tensor_bytes");
  t.workspace_bytes = j.at("workspace_bytes");
  t.other_bytes = j.at("other_bytes");
  t.code = j.at("code");
  if (const auto functions = j.find("functions"); functions != j.end()) t.functions = functions_from(*functions);
  if (const auto dram = j.find("dram"); dram != j.end()) t.dram = dram_from(*dram);
  t.copy_us = j.value("copy_us", std::vector<double>{});
  return t;
}

std::string text_of(const Json& j) { return j.dump(-1, ' ', false, Json::error_handler_t::replace); }

SharedMemory opened(const std::string& path, std::size_t bytes, bool writable) {
  const int fd = ::open(path.c_str(), (writable ? O_RDWR : O_RDONLY) | O_CLOEXEC);
  if (fd < 0) throw std::runtime_error(fmt::format("cannot open {}: {}", path, std::strerror(errno)));
  return SharedMemory(fd, bytes, writable);
}

Json answer(Backend& backend, const Json& order, std::FILE* out) {
  if (const auto copy = order.find("copy"); copy != order.end())
    return {{"dram", json_of(clock_of(backend).copy_dram_bytes(copy->get<std::size_t>()))}};
  TimingOrder o;
  o.c = parse_repro(order.at("line").get<std::string>(), op_shapes()).what;
  o.op = &op_named(o.c.op);
  o.kernels = order.at("kernels").get<std::vector<std::string>>();
  o.seconds = order.at("seconds");
  o.leave_out_slow = order.at("leave_out_slow");
  o.judge = order.at("judge");
  o.functions = order.value("functions", false);
  o.dram = order.value("dram", false);
  o.copy_bytes = order.value("copy_bytes", std::size_t{0});
  o.l2 = order.value("clean", false) ? L2::clean : L2::flushed;
  const Packing packing = pack(*o.op, o.c);
  if (packing.input_bytes != order.at("input_bytes") || packing.output_bytes != order.at("output_bytes"))
    throw std::runtime_error("this build lays out the tensors differently");
  const SharedMemory inputs = opened(order.at("inputs"), packing.input_bytes, false);
  const SharedMemory outputs = opened(order.at("outputs"), packing.output_bytes, true);
  LocalTimer timer(backend);
  Json all = Json::array();
  for (KernelTimes& t : timer.time(o, inputs, [&](const std::string&kernel, const std::vector<std::byte*>&images) {
         for (std::size_t i = 0; i < images.size(); ++i)
           if (images[i]) std::memcpy(outputs.data() + packing.at[i], images[i], packing.placements[i].bytes);
         fmt::print(out, "{}\n", text_of({{"judge", kernel}}));
         std::fflush(out);
         std::string line;
         if (!std::getline(std::cin, line)) std::_Exit(0);
       })) {
    const Kernel* k = find_kernel(o.c.op, t.kernel);
    t.code = k && k->plugin ? k->code : code_hash(o.c.op, t.kernel);
    all.push_back(to_json(t));
  }
  return {{"kernels", all}};
}

}  // namespace

int serve_times(std::string_view backend_name, const std::string& plugin) {
  // Kernels and libraries may print; only `out` carries answers.
  std::FILE* const out = ::fdopen(::dup(STDOUT_FILENO), "w");
  ::dup2(STDERR_FILENO, STDOUT_FILENO);
  if (!out) return kBadInput;
  const auto say = [&](const Json& j) {
    fmt::print(out, "{}\n", text_of(j));
    std::fflush(out);
  };
  try {
    if (!plugin.empty()) {
      use_plugin(plugin);
      std::vector<Kernel> all(kernels().begin(), kernels().end());
      all.insert(all.end(), built_in_kernels().begin(), built_in_kernels().end());
      use_kernels(std::move(all));
    }
    const std::unique_ptr<Backend> backend = open_backend(backend_name);
    say({{"timer", kProtocol}, {"commit", commit()}, {"build", build_flags()}});
    for (std::string line; std::getline(std::cin, line);) try {
        say(answer(*backend, Json::parse(line), out));
      } catch (const std::exception& e) {
        say({{"error", e.what()}});
      }
  } catch (const std::exception& e) {
    say({{"error", e.what()}});
    return kVerdictFailed;
  }
  return kAllPassed;
}

ChildTimer::ChildTimer(const std::string& program, const std::string& backend, double timeout_s, const std::string& plugin)
    : timeout_s_(timeout_s) {
  int in[2] = {-1, -1}, out[2] = {-1, -1};
  if (::pipe2(in, O_CLOEXEC) != 0 || ::pipe2(out, O_CLOEXEC) != 0)
    throw std::runtime_error(fmt::format("cannot make a pipe for a timing process: {}", std::strerror(errno)));
  std::vector<std::string> arguments{"timer", backend};
  if (!plugin.empty()) arguments.push_back(plugin);
  const int error = start_child(pid_, program, arguments, {{in[0], STDIN_FILENO}, {out[1], STDOUT_FILENO}});
  ::close(in[0]);
  ::close(out[1]);
  to_ = in[1];
  from_ = out[0];
  if (error) {
    end();
    throw BadInput(fmt::format("cannot start '{}': {}", program, std::strerror(error)));
  }
  const std::string hello = receive();
  const Json j = Json::parse(hello, nullptr, false);
  if (!j.is_object() || j.value("timer", 0) != kProtocol) {
    const std::string why = j.is_object() ? j.value("error", "it speaks another protocol") : "it does not answer like validate";
    end();
    throw BadInput(fmt::format("'{}' cannot be used for timing: {}", program, why));
  }
  commit_ = j.at("commit");
  build_ = j.at("build");
}

ChildTimer::~ChildTimer() { end(); }

void ChildTimer::end() {
  if (to_ >= 0) ::close(to_);
  if (from_ >= 0) ::close(from_);
  to_ = from_ = -1;
  end_child(pid_);
}

bool ChildTimer::send(const std::string& line) {
  const std::string whole = line + "\n";
  for (std::size_t done = 0; done < whole.size();) {
    const ssize_t n = ::write(to_, whole.data() + done, whole.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return false;
    done += static_cast<std::size_t>(n);
  }
  return true;
}

std::string ChildTimer::receive() {
  const Stopwatch waited;
  for (;;) {
    if (const std::size_t at = pending_.find('\n'); at != std::string::npos) {
      const std::string line = pending_.substr(0, at);
      pending_.erase(0, at + 1);
      return line;
    }
    const double left = timeout_s_ - waited.seconds();
    pollfd ready{from_, POLLIN, 0};
    char part[65536];
    if (left <= 0 || ::poll(&ready, 1, 200) < 0) {
      if (left > 0 && errno == EINTR) continue;
      return "";
    }
    if (!ready.revents) continue;
    const ssize_t n = ::read(from_, part, sizeof part);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return "";
    pending_.append(part, static_cast<std::size_t>(n));
  }
}

DramBytes ChildTimer::copy_dram_bytes(std::size_t bytes) {
  const Json j = send(text_of({{"copy", bytes}})) ? Json::parse(receive(), nullptr, false) : Json();
  if (j.is_object() && j.contains("dram")) return dram_from(j.at("dram"));
  if (j.is_object() && j.contains("error")) throw std::runtime_error(j.at("error").get<std::string>());
  end();
  throw std::runtime_error("the process that counts died or took too long");
}

std::vector<KernelTimes> ChildTimer::time(const TimingOrder& o, const SharedMemory& inputs, const JudgeOutputs& judge) {
  const Packing packing = pack(*o.op, o.c);
  const SharedMemory outputs(packing.output_bytes);
  const auto file = [](const SharedMemory& m) { return fmt::format("/proc/{}/fd/{}", ::getpid(), m.fd()); };
  const auto all_failed = [&](const std::string& why) {
    std::vector<KernelTimes> all(o.kernels.size());
    for (std::size_t i = 0; i < all.size(); ++i) {
      all[i].kernel = o.kernels[i];
      all[i].left_out = "FAILED: " + why;
      all[i].failed = true;
    }
    return all;
  };
  Json order{{"line", repro(o.c, o.op->shape())},
             {"kernels", o.kernels},
             {"seconds", o.seconds},
             {"leave_out_slow", o.leave_out_slow},
             {"judge", o.judge},
             {"functions", o.functions},
             {"dram", o.dram},
             {"copy_bytes", o.copy_bytes},
             {"clean", o.l2 == L2::clean},
             {"inputs", file(inputs)},
             {"input_bytes", packing.input_bytes},
             {"outputs", file(outputs)},
             {"output_bytes", packing.output_bytes}};
  bool heard = send(text_of(order));
  while (heard) {
    const Json j = Json::parse(receive(), nullptr, false);
    if (!j.is_object()) break;
    if (const auto error = j.find("error"); error != j.end()) return all_failed(error->get<std::string>());
    if (const auto kernel = j.find("judge"); kernel != j.end()) {
      std::vector<std::byte*> images;
      for (std::size_t i = 0; i < o.op->tensors.size(); ++i)
        images.push_back(o.op->tensors[i].role == Role::output ? outputs.data() + packing.at[i] : nullptr);
      judge(kernel->get<std::string>(), images);
      heard = send("{}");
      continue;
    }
    std::vector<KernelTimes> all;
    for (const Json& t : j.at("kernels")) all.push_back(times_from(t));
    if (all.size() == o.kernels.size()) return all;
    break;
  }
  end();
  return all_failed("the timing process died or took too long");
}

}  // namespace assay
