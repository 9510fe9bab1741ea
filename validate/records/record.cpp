// SPDX-License-Identifier: Apache-2.0
#include "validate/records/record.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>
#include <system_error>

#include "validate/base/error.hpp"
#include "validate/records/text_file.hpp"

namespace assay {

namespace {

using Json = nlohmann::ordered_json;

// JSON has no NaN or infinity, so they are written as strings.
Json number(double v) {
  if (std::isnan(v)) return "nan";
  if (std::isinf(v)) return v > 0 ? "inf" : "-inf";
  return v;
}

[[noreturn]] void cannot_write(const std::string& path, int error) {
  throw BadInput(fmt::format("cannot write '{}': {}", path, std::strerror(error)));
}

// Blocks all signals in this thread while it lives.
class SignalsHeld {
 public:
  SignalsHeld() {
    sigset_t all;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsHeld() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsHeld(const SignalsHeld&) = delete;
  SignalsHeld& operator=(const SignalsHeld&) = delete;

 private:
  sigset_t before_{};
};

int records_fd = -1;  // a copy of standard output, once records are written there

bool is_special(const std::string& path) {
  struct stat s {};
  return ::stat(path.c_str(), &s) == 0 && !S_ISREG(s.st_mode) && !S_ISDIR(s.st_mode);
}
// Note: the message of a dying worker may not be UTF-8; bad bytes are replaced, so that the record is not lost.
std::string text_of(const Json& j) { return j.dump(-1, ' ', false, Json::error_handler_t::replace); }

Json json_of(const Traffic& t) {
  Json j{{"read_bytes", t.read_bytes},
         {"written_bytes", t.written_bytes},
         {"unique_read_bytes", t.unique_read_bytes},
         {"unique_written_bytes", t.unique_written_bytes}};
  if (t.read_sectors || t.written_sectors) {
    j["read_sectors"] = t.read_sectors;
    j["written_sectors"] = t.written_sectors;
  }
  return j;
}

}  // namespace

void Record::caught(Tier t) {
  if (std::find(caught_by.begin(), caught_by.end(), t) == caught_by.end()) caught_by.push_back(t);
}

void Tally::add(const Record& r) {
  ++of[r.verdict];
  ++total;
  incomplete += r.incomplete;
  unwatchable += r.incomplete && r.verdict == Verdict::unsupported;
  if (r.verdict != Verdict::skipped && r.verdict != Verdict::unsupported && r.multi_tile_ragged) ++ragged;
}

std::int64_t Tally::count(Verdict v) const {
  const auto at = of.find(v);
  return at == of.end() ? 0 : at->second;
}

std::int64_t Tally::bad() const {
  std::int64_t n = 0;
  for (const auto& [verdict, count] : of)
    if (is_bad(verdict)) n += count;
  return n;
}

std::string Tally::sentence() const {
  std::string text =
      fmt::format("{} passed · {} failed · {} suspect", count(Verdict::passed), count(Verdict::failed), count(Verdict::suspect));
  for (Verdict v : {Verdict::crashed, Verdict::timeout, Verdict::skipped})
    if (count(v)) text += fmt::format(" · {} {}", count(v), name(v));
  if (const std::int64_t declared = count(Verdict::unsupported) - unwatchable)
    text += fmt::format(" · {} unsupported as declared", declared);
  if (unwatchable) text += fmt::format(" · {} not watchable", unwatchable);
  if (interrupted) text += " · interrupted";
  return text + fmt::format(" · {:.1f} s", seconds);
}

std::string to_json(const RunHead& h) {
  Json j{{"record", "run"},        {"schema", kSchemaVersion}, {"version", h.version}, {"commit", h.commit},
         {"compiler", h.compiler}, {"build", h.build},         {"backend", h.backend}, {"device", h.device},
         {"host", h.host},         {"date", h.date},           {"suite", h.suite},     {"seed", h.seed}};
  if (!h.driver.empty()) j["driver"] = h.driver;
  if (!h.libraries.empty()) j["libraries"] = h.libraries;
  return j.dump();
}

std::string to_json(const Record& r) {
  Json j{{"record", "case"}, {"op", r.c.op}, {"kernel", r.kernel}, {"backend", r.backend}, {"dtype", name(r.c.dtype)}};
  if (!r.numerics.empty()) j["numerics"] = r.numerics;
  if (!r.held_to.empty()) j["held_to"] = r.held_to;
  if (!r.loaded.empty()) j["loaded"] = r.loaded, j["not_checked"] = r.not_checked;
  if (!r.code.empty()) j["code"] = r.code;
  j["axes"] = Json::object();
  for (std::size_t i = 0; i < kAxes.size(); ++i)
    if (r.c.dims.extent[i] || r.repro.find(" " + std::string(kAxes[i].name) + "=") != std::string::npos)
      j["axes"][kAxes[i].name] = r.c.dims.extent[i];
  j["attributes"] = Json::object();
  for (const auto& [key, value] : r.c.attributes) j["attributes"][key] = number(value);
  j["fill"] = r.c.fill;
  j["layout"] = r.c.layout;
  j["seed"] = r.c.seed;
  j["source"] = r.c.source;
  for (const Case::Reduction& cut : r.c.reduced)
    j["reduced"].push_back({{"axis", name(cut.axis)}, {"from", cut.from}, {"to", cut.to}});
  j["verdict"] = name(r.verdict);
  if (!r.reason.empty()) j["reason"] = r.reason;
  for (const Tier t : r.caught_by) j["caught_by"].push_back(name(t));
  for (const auto& [policy, passed] : r.policies) j["policies"][std::string(policy)] = passed;
  j["exact"] = r.exact;
  j["multi_tile_ragged"] = r.multi_tile_ragged;
  j["compared"] = r.compared;
  j["wrong"] = r.wrong;
  if (r.margin) j["margin"] = number(*r.margin), j["max_abs_error"] = number(r.max_abs_error);
  if (r.worst)
    j["worst"] = {{"tensor", r.worst->tensor},
                  {"index", r.worst->index},
                  {"got", number(r.worst->got)},
                  {"golden", number(r.worst->golden)},
                  {"bound", number(r.worst->bound)}};
  if (r.worst && !r.worst->tile.empty()) j["worst"]["tile"] = r.worst->tile;
  for (const auto& [output, margin] : r.stages) j["stages"][output] = number(margin);
  if (r.end_to_end) j["end_to_end"] = number(*r.end_to_end);
  if (!r.pattern.empty()) j["pattern"] = r.pattern;
  if (!r.reads_like.empty()) j["reads_like"] = r.reads_like;
  if (r.deterministic) j["deterministic"] = *r.deterministic;
  if (r.digest) j["digest"] = digest_text(r);
  if (!r.rows_checked.empty()) j["sampled"] = {{"rows", r.rows}, {"checked", r.rows_checked}};
  if (r.sweep_margin) j["sampled"]["sweep_margin"] = number(*r.sweep_margin);
  if (r.rms_ratio) j["rms_ratio"] = number(*r.rms_ratio);
  if (r.bias) j["bias"] = number(*r.bias);
  if (!r.relations.empty()) j["relations"] = r.relations;
  j["flops"] = r.cost.flops;
  j["bytes"] = {{"formula", r.cost.bytes()}, {"unfused_formula", r.cost.unfused_bytes}};
  if (!r.traffic.empty()) {
    Json counted = Json::object();
    for (const auto& [tensor, t] : r.traffic) counted[tensor] = json_of(t);
    j["bytes"]["counted"] = counted;
  }
  j["seconds"] = r.seconds;
  j["repro"] = r.repro;
  return text_of(j);
}

std::string to_json(const Tally& t) {
  Json verdicts = Json::object();
  for (Verdict v : {Verdict::passed, Verdict::failed, Verdict::crashed, Verdict::timeout, Verdict::skipped, Verdict::unsupported,
                    Verdict::suspect})
    verdicts[std::string(name(v))] = t.count(v);
  return Json{{"record", "end"},
              {"verdicts", verdicts},
              {"multi_tile_ragged", t.ragged},
              {"seconds", t.seconds},
              {"work_seconds",
               {{"workers", t.work.workers}, {"goldens", t.work.goldens}, {"judging", t.work.judging}, {"power", t.work.power}}},
              {"incomplete", t.incomplete},
              {"interrupted", t.interrupted}}
      .dump();
}

void give_stdout_to_records() {
  if (records_fd >= 0) return;
  std::fflush(stdout);
  records_fd = ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  if (records_fd < 0 || ::dup2(STDERR_FILENO, STDOUT_FILENO) < 0) cannot_write("standard output", errno);
}

JsonLines::JsonLines(const std::string& path) : path_(path) {
  fd_ = path == kStdout ? ::fcntl(records_fd, F_DUPFD_CLOEXEC, 0)
                        : ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (fd_ < 0) cannot_write(path, errno);
}

JsonLines::~JsonLines() {
  if (fd_ >= 0) ::close(fd_);
}

void JsonLines::write(const std::string& line) {
  const std::string whole = line + "\n";
  std::size_t done = 0;
  while (done < whole.size()) {
    const ssize_t n = ::write(fd_, whole.data() + done, whole.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) {
      const int error = errno;
      if (error == EPIPE) throw std::system_error(error, std::generic_category(), path_);  // the reader closed the pipe
      if (path_ != kStdout) [[maybe_unused]]
        const int cut = ::ftruncate(fd_, whole_);
      cannot_write(path_, error);
    }
    done += static_cast<std::size_t>(n);
  }
  whole_ += static_cast<std::int64_t>(whole.size());
}

void write_whole(const std::string& path, const std::string& text) {
  // Note: a rename cannot replace a device or a pipe (--junit /dev/stdout), so these are written in place.
  if (is_special(path)) return JsonLines(path).write(text);
  const std::string temporary = path + ".part";
  const SignalsHeld until_renamed;  // else a second Ctrl-C would leave the temporary file
  try {
    JsonLines(temporary).write(text);
    if (std::rename(temporary.c_str(), path.c_str()) != 0) cannot_write(path, errno);
  } catch (const BadInput&) {
    ::unlink(temporary.c_str());
    throw;
  }
}

std::string digest_text(const Record& r) { return r.digest ? fmt::format("{:016x}", *r.digest) : std::string(); }

std::map<std::string, Outcome> outcomes_in(const std::string& path) { return outcomes_in(read_text_file(path), path); }

std::map<std::string, Outcome> outcomes_in(const std::string& text, const std::string& path) {
  std::map<std::string, Outcome> outcomes;
  each_record(text, path, [&](const std::string&, const Json& j) {
    if (text_in(j, "record") == "case") outcomes[text_in(j, "repro")] = {text_in(j, "verdict"), j.value("digest", "")};
  });
  if (outcomes.empty()) throw BadInput(fmt::format("'{}' holds no case", path));
  return outcomes;
}

void require_writable(const std::string& path) {
  if (path == kStdout && records_fd >= 0) return;
  if (::access(path.c_str(), F_OK) == 0) {
    const int fd = ::open(path.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0 && errno != ENXIO) cannot_write(path, errno);  // Note: ENXIO: a pipe without a reader yet
    if (fd >= 0) ::close(fd);
    return;
  }
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  if (fd < 0) cannot_write(path, errno);
  ::close(fd);
  ::unlink(path.c_str());
}

}  // namespace assay
