// SPDX-License-Identifier: Apache-2.0
// merge: puts the records of a run's shards into one file, and names the shards and cases that are missing.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "validate/base/error.hpp"
#include "validate/base/input.hpp"
#include "validate/command/commands.hpp"
#include "validate/records/text_file.hpp"

namespace assay {

namespace {

using Json = RecordJson;

struct Part {
  RecordFile file;
  Json head;
  std::int64_t number = 0, of = 0;  // the shard
};

Part part_of(const std::string& path) {
  Part p{read_records(path), {}, 0, 0};
  p.head = Json::parse(p.file.lines[0]);
  const std::string shard = p.head.value("shard", "");
  const std::size_t slash = shard.find('/');
  if (slash != shard.npos) {
    std::from_chars(shard.data(), shard.data() + slash, p.number);
    std::from_chars(shard.data() + slash + 1, shard.data() + shard.size(), p.of);
  }
  constexpr std::int64_t kMost = 100'000;
  if (!(p.number >= 1 && p.number <= p.of && p.of <= kMost))
    throw BadInput(fmt::format("'{}' is no shard of a run  (validate run --shard 1/4 --json SHARD)", path));
  return p;
}

// Throws BadInput if two files are not of the same run.
void require_one_run(const Part& first, const Part& other) {
  const auto text = [](const Part& p, const char* key) {
    return p.head.contains(key) ? p.head[key].is_string() ? p.head[key].get<std::string>() : p.head[key].dump() : "";
  };
  for (const char* key : {"selection", "version", "commit", "compiler", "build", "backend", "device"})
    if (const std::string a = text(first, key), b = text(other, key); a != b)
      throw BadInput(fmt::format("'{}' and '{}' are not of one run: their {} is '{}' and '{}'", first.file.path, other.file.path,
                                 key, a, b));
  // Note: two machines may have sandboxes of different versions.
  const bool first_off = text(first, "sandbox").starts_with("off"), other_off = text(other, "sandbox").starts_with("off");
  if (first_off != other_off)
    throw BadInput(fmt::format("'{}' ran without the sandbox that '{}' has", (first_off ? first : other).file.path,
                               (first_off ? other : first).file.path));
  for (const char* key : {"judges", "suites"})
    if (text(first, key) != text(other, key))
      throw BadInput(fmt::format("'{}' and '{}' are not of one run: their {} have different versions", first.file.path,
                                 other.file.path, key));
  if (first.of != other.of)
    throw BadInput(fmt::format("'{}' and '{}' are not of one run: one of {} shards and one of {}", first.file.path,
                               other.file.path, first.of, other.of));
}

// Counts the cases of a file, and collects what it lacks.
void add(Tally& tally, const Part& p) {
  if (!p.file.incomplete.empty())
    tally.missing.push_back(fmt::format("shard {}/{} ('{}'): {}", p.number, p.of, p.file.path, p.file.incomplete));
  const std::string text = fmt::format("{}\n", fmt::join(p.file.lines, "\n"));
  each_record(text, p.file.path, [&](const std::string&, const Json& j) {
    const std::string kind = text_in(j, "record");
    if (kind == "case") tally.add(record_of(j, {}));
    if (kind == "power" && text_in(j, "verdict") == "suspect") tally.add_powerless();
    if (kind != "end") return;
    const Tally end = tally_of(j);
    tally.seconds += end.seconds;
    tally.work.workers += end.work.workers;
    tally.work.goldens += end.work.goldens;
    tally.work.judging += end.work.judging;
    tally.work.power += end.work.power;
  });
}

// The head of the merged file, as that of an unbroken run but for its date, which is the first shard's.
Json merged_head(const std::vector<Part>& parts) {
  Json head = parts[0].head;
  std::int64_t cases = 0;
  std::map<std::string, std::string> kernels;
  for (const Part& p : parts) {
    cases += p.file.planned.value_or(0);
    for (const auto& [kernel, hash] : p.head.value("kernels", std::map<std::string, std::string>{}))
      if (const auto at = kernels.try_emplace(kernel, hash).first; at->second != hash)
        throw BadInput(fmt::format("'{}' is of another code of {} than the shards before it", p.file.path, kernel));
  }
  head.erase("shard");
  head.erase("plan");
  head["cases"] = cases;
  head["kernels"] = kernels;
  head["merged"] = parts.size();
  return head;
}

}  // namespace

int merge_command(const MergeFlags& flags) {
  std::vector<Part> parts;
  for (const std::string& path : flags.files) {
    parts.push_back(part_of(path));
    require_one_run(parts.front(), parts.back());
  }
  std::stable_sort(parts.begin(), parts.end(), [](const Part& a, const Part& b) { return a.number < b.number; });
  for (std::size_t i = 1; i < parts.size(); ++i)
    if (parts[i - 1].number == parts[i].number)
      throw BadInput(fmt::format("'{}' and '{}' are the same shard, {}/{}", parts[i - 1].file.path, parts[i].file.path,
                                 parts[i].number, parts[i].of));

  Tally tally;
  std::int64_t next = 1;
  const auto without = [&](std::int64_t until) {
    for (; next < until; ++next) tally.missing.push_back(fmt::format("shard {}/{}", next, parts[0].of));
  };
  for (const Part& p : parts) {
    without(p.number);
    add(tally, p);
    next = p.number + 1;
  }
  without(parts[0].of + 1);

  JsonLines out(flags.json);
  out.write(merged_head(parts).dump());
  for (const Part& p : parts)
    for (const std::string& line : p.file.lines)
      if (const std::string kind = Json::parse(line).value("record", ""); kind != "run" && kind != "end") out.write(line);
  out.write(to_json(tally));
  if (!tally.missing.empty()) fmt::print("INCOMPLETE: missing: {}\n", plain(fmt::format("{}", fmt::join(tally.missing, ", "))));
  fmt::print("{} of {} shards, {} cases: {}\n", parts.size(), parts[0].of, tally.total, tally.sentence());
  return exit_code(exit_code(tally, flags.partial), !tally.missing.empty(), flags.partial);
}

}  // namespace assay
