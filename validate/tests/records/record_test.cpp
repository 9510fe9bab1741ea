// SPDX-License-Identifier: Apache-2.0
#include "validate/records/record.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmath>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>

#include "catch_shim.hpp"
#include "validate/base/error.hpp"
#include "validate/base/exit.hpp"
#include "validate/records/output_file.hpp"
#include "validate/records/render.hpp"

using namespace assay;
namespace fs = std::filesystem;

namespace {

// A temporary folder, removed at the end.
class Folder {
 public:
  Folder() {
    std::string name = (fs::temp_directory_path() / "assay-XXXXXX").string();
    REQUIRE(::mkdtemp(name.data()));
    path_ = name;
  }
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::string operator/(std::string_view file) const { return (path_ / file).string(); }
  std::size_t files() const { return static_cast<std::size_t>(std::distance(fs::directory_iterator(path_), {})); }

 private:
  fs::path path_;
};

// Lets no file grow beyond `bytes`, as on a full disk.
class FileLimit {
 public:
  explicit FileLimit(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &old_);
    const rlimit limit{bytes, old_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileLimit() {
    ::setrlimit(RLIMIT_FSIZE, &old_);
    std::signal(SIGXFSZ, handler_);
  }
  FileLimit(const FileLimit&) = delete;
  FileLimit& operator=(const FileLimit&) = delete;

 private:
  rlimit old_{};
  void (*handler_)(int);
};

std::string text_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

template <class F>
std::string error(F&& f) {
  try {
    f();
  } catch (const BadInput& e) {
    return e.what();
  }
  return "no error";
}

Record record(Verdict v, std::string reason = {}) {
  Record r;
  r.kernel = "naive";
  r.backend = "simt";
  r.verdict = v;
  r.reason = std::move(reason);
  r.c.op = "add";
  r.repro = "add/naive f32 rows=1 cols=1 seed=0";
  return r;
}

// Checks that XML is well-formed: tags balanced, attributes quoted, entities known, no bare & or <, no control characters.
// Returns what is wrong, or empty; counts the tags in `elements`.
std::string malformed(std::string_view xml, int* elements = nullptr) {
  std::vector<std::string> open;
  const auto entity = [&](std::size_t& i) {
    for (std::string_view e : {"&amp;", "&lt;", "&gt;", "&quot;", "&apos;"})
      if (xml.substr(i, e.size()) == e) {
        i += e.size();
        return true;
      }
    return false;
  };
  std::size_t i = xml.substr(0, 5) == "<?xml" ? xml.find("?>") + 2 : 0;
  for (const char c : xml)
    if (static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t') return "a control character";
  while (i < xml.size()) {
    if (xml[i] == '&') {
      if (!entity(i)) return "a bare &";
    } else if (xml.substr(i, 2) == "</") {
      const std::size_t end = xml.find('>', i);
      if (open.empty() || open.back() != xml.substr(i + 2, end - i - 2)) return "a tag closed that was not open";
      open.pop_back();
      i = end + 1;
    } else if (xml[i] == '<') {
      std::size_t end = xml.find_first_of(" />\n", i);
      open.emplace_back(xml.substr(i + 1, end - i - 1));
      if (elements) ++*elements;
      for (;;) {
        while (xml[end] == ' ') ++end;
        if (xml[end] == '>') break;
        if (xml.substr(end, 2) == "/>") {
          open.pop_back();
          ++end;
          break;
        }
        end = xml.find('=', end) + 1;
        if (xml[end++] != '"') return "an attribute without quotes";
        while (end < xml.size() && xml[end] != '"') {
          if (xml[end] == '<') return "a < within an attribute";
          if (xml[end] != '&') ++end;
          else if (!entity(end)) return "a bare & within an attribute";
        }
        if (++end >= xml.size()) return "an attribute without an end";
      }
      i = end + 1;
    } else {
      ++i;
    }
  }
  return open.empty() ? "" : "a tag left open: " + open.back();
}

}  // namespace

TEST_CASE("record: lines are whole, and an old file is kept until the first one") {
  const Folder folder;
  const std::string path = folder / "run.jsonl";
  { JsonLines(path).write("an older run"); }
  JsonLines lines(path);
  CHECK(text_of(path) == "an older run\n");
  lines.write("{\"a\":1}");
  CHECK(text_of(path) == "{\"a\":1}\n");
  lines.write("{\"b\":2}");
  CHECK(text_of(path) == "{\"a\":1}\n{\"b\":2}\n");
}

TEST_CASE("record: a file has one writer, whatever its name") {
  const Folder folder;
  const std::string path = folder / "run.jsonl", link = folder / "link.jsonl";
  fs::create_symlink(path, link);
  {
    JsonLines first(path);
    for (const std::string& name : {path, link}) {
      CHECK(error([&] { JsonLines second(name); }) == "'" + name + "' is being written by another run");
      CHECK(same_file(path, name));
    }
    first.write("a");
    first.replace({"b", "c"});  // another file of the same name, which is locked too
    CHECK(error([&] { JsonLines second(path); }) != "no error");
    first.write("d");
    CHECK(text_of(path) == "b\nc\nd\n");
  }
  { JsonLines(link).replace({"e"}); }
  CHECK(text_of(path) == "e\n");
  CHECK(fs::is_symlink(link));
  CHECK(folder.files() == 2);
  { const JsonLines unused(folder / "unused.jsonl"); }
  CHECK(folder.files() == 2);
  CHECK(same_file(folder / "x", folder / "./x"));
  CHECK_FALSE(same_file(folder / "x", folder / "y"));
}

TEST_CASE("record: a temporary file has a name of its own, and a link in its place is not followed") {
  const Folder folder;
  const std::string path = folder / "run.xml", victim = folder / "victim";
  { std::ofstream(victim) << "precious"; }
  fs::create_symlink(victim, path + ".part");
  write_whole(path, "text");
  CHECK(text_of(victim) == "precious");
  CHECK(fs::is_symlink(path + ".part"));
  CHECK_FALSE(fs::is_symlink(path));
}

TEST_CASE("record: a pipe is written if somebody reads it, and refused if nobody does") {
  const Folder folder;
  const std::string path = folder / "pipe";
  REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
  const std::string nobody = "cannot write '" + path + "': it is a pipe that nobody reads";
  CHECK(error([&] { JsonLines lines(path); }) == nobody);
  CHECK(error([&] { require_writable(path); }) == nobody);
  CHECK(error([&] { write_whole(path, "x"); }) == nobody);
  const int reader = ::open(path.c_str(), O_RDONLY | O_NONBLOCK);
  { JsonLines(path).write("line"); }
  char got[16] = {};
  CHECK(::read(reader, got, sizeof got) == 5);
  CHECK(std::string(got) == "line\n");
  // A reader that takes nothing does not keep a stopped run from ending.
  stop_requested = true;
  CHECK(error([&] { JsonLines(path).write(std::string(1 << 20, 'x')); }) ==
        "cannot write '" + path + "': its reader takes nothing");
  stop_requested = false;
  ::close(reader);
}

TEST_CASE("record: what is read back gives the same line") {
  Record r = record(Verdict::failed, "err/bound 3");
  r.caught_by = {Tier::T1, Tier::T4};
  r.compared = 12;
  r.wrong = 2;
  r.margin = std::numeric_limits<double>::infinity();
  r.max_abs_error = 0.1;
  r.worst = Record::Worst{"y", {1, 2}, std::nan(""), 1 / 3.0, 1e-300, "first of row tile 1"};
  r.stages = {{"y", 0.5}};
  r.end_to_end = 1e-7;
  r.pattern = "p";
  r.reads_like = "l";
  r.would_pass = {"flushes_storage", "rescales=1"};
  r.deterministic = false;
  r.digest = 0xfedcba9876543210u;
  r.rows = 9;
  r.rows_checked = {0, 8};
  r.sweep_margin = 0.25;
  r.rms_ratio = 1.5;
  r.bias = -0.1;
  r.relations = {"rows_cut"};
  r.faults = {{"output", true}, {"accumulator", false}};
  r.incomplete = true;
  r.cost = {.flops = 5, .bytes_read = 7, .bytes_written = 0, .unfused_bytes = 9};
  r.traffic["x"] = {.read_bytes = 1, .written_bytes = 2, .unique_read_bytes = 3, .unique_written_bytes = 4, .read_sectors = 5};
  for (const Record& one : {r, record(Verdict::passed, "")}) {
    const std::string line = to_json(one);
    CHECK(to_json(record_of(nlohmann::ordered_json::parse(line), one.c)) == line);
    CHECK(error([&] { record_of(nlohmann::ordered_json::object(), one.c); }) != "no error");
  }
}

TEST_CASE("record: a full disk is an error that names the file and leaves whole lines") {
  if (fs::exists("/dev/full")) {
    JsonLines full("/dev/full");
    const std::string message = error([&] { full.write("line"); });
    CHECK(message.find("/dev/full") != std::string::npos);
    CHECK(message.find("No space left") != std::string::npos);
  }
  const Folder folder;
  const std::string path = folder / "run.jsonl";
  JsonLines lines(path);
  lines.write(std::string(60, 'a'));
  {
    const FileLimit limit(100);
    CHECK(error([&] { lines.write(std::string(60, 'b')); }).find(path) != std::string::npos);
  }
  CHECK(text_of(path) == std::string(60, 'a') + "\n");
}

TEST_CASE("record: a file that cannot be opened is bad input") {
  const Folder folder;
  CHECK(error([&] { JsonLines(folder / "nowhere/run.jsonl"); }).find("nowhere/run.jsonl") != std::string::npos);
  CHECK(error([&] { JsonLines(folder / ""); }) != "no error");
  CHECK(error([&] { write_whole(folder / "nowhere/run.xml", "x"); }).find("nowhere/run.xml") != std::string::npos);
  if (::geteuid() != 0) {
    fs::create_directory(folder / "locked");
    fs::permissions(folder / "locked", fs::perms::owner_read | fs::perms::owner_exec);
    CHECK(error([&] { JsonLines(folder / "locked/run.jsonl"); }) != "no error");
  }
}

TEST_CASE("record: a file is written whole or not at all") {
  const Folder folder;
  const std::string path = folder / "run.xml";
  write_whole(path, "first");
  CHECK(text_of(path) == "first\n");
  write_whole(path, "second");
  CHECK(text_of(path) == "second\n");
  CHECK(folder.files() == 1);
  {
    const FileLimit limit(20);
    CHECK(error([&] { write_whole(path, std::string(1000, 'x')); }) != "no error");
  }
  CHECK(text_of(path) == "second\n");
  CHECK(folder.files() == 1);
  fs::create_directory(folder / "taken");
  CHECK(error([&] { write_whole(folder / "taken", "x"); }) != "no error");
  CHECK(folder.files() == 2);
  write_whole("/dev/null", "a device is written in place");
  CHECK(fs::is_character_file("/dev/null"));
}

TEST_CASE("record: JUnit is well-formed whatever a record says") {
  const std::string nasty = std::string("<a b=\"c\">&amp; ]]> 'q' \x01\x02\x1b[31m\t\r\n -- é µ ") + '\0' + "end";
  RunHead head;
  head.backend = head.date = nasty;
  std::vector<Record> records;
  Tally tally;
  for (const Verdict v : {Verdict::passed, Verdict::failed, Verdict::crashed, Verdict::timeout, Verdict::skipped,
                          Verdict::unsupported, Verdict::suspect}) {
    records.push_back(record(v, nasty));
    records.back().kernel = records.back().repro = records.back().pattern = nasty;
    tally.add(records.back());
  }
  const std::string xml = to_junit(head, records, tally);
  int elements = 0;
  CHECK(malformed(xml, &elements).empty());
  CHECK(elements == 2 + 7 + 6);  // testsuites, one suite, its cases, and what each but the passed one says
  CHECK(xml.find("tests=\"7\" failures=\"4\"") != std::string::npos);
  CHECK(xml.find("skipped=\"2\"") != std::string::npos);
  // malformed() finds each kind of violation.
  for (const char* bad : {"<a>", "</a>", "<a></b>", "<a b=\"<\"/>", "<a b=c/>", "<a>&</a>", "<a b=\"&x;\"/>", "<a>\x01</a>"})
    CHECK_FALSE(malformed(bad).empty());
}

TEST_CASE("record: a record whose reason is not UTF-8 is still written") {
  const std::string bytes = "killed: \xff\xfe\xc3(";
  const auto j = nlohmann::json::parse(to_json(record(Verdict::crashed, bytes)));
  CHECK(j.at("reason").get<std::string>().find("killed: ") == 0);
  const std::string xml = to_junit({}, {record(Verdict::crashed, bytes)}, {});
  CHECK_NOTHROW(nlohmann::json(xml).dump());  // dump() throws at what is not UTF-8
}

TEST_CASE("record: the tally in one sentence") {
  Tally t;
  CHECK(t.sentence() == "0 passed · 0 failed · 0 suspect · 0.0 s");
  Record ragged = record(Verdict::passed);
  ragged.multi_tile_ragged = true;
  for (int i = 0; i < 312; ++i) t.add(ragged);
  ragged.verdict = Verdict::unsupported;
  for (int i = 0; i < 24; ++i) t.add(ragged);
  t.seconds = 17.94;
  CHECK(t.sentence() == "312 passed · 0 failed · 0 suspect · 24 unsupported as declared · 17.9 s");
  CHECK(t.ragged == 312);
  CHECK(t.bad() == 0);
  for (const Verdict v : {Verdict::failed, Verdict::crashed, Verdict::timeout, Verdict::skipped, Verdict::suspect})
    t.add(record(v));
  t.interrupted = true;
  CHECK(t.sentence() ==
        "312 passed · 1 failed · 1 suspect · 1 crashed · 1 timeout · 1 skipped · 24 unsupported as declared · "
        "interrupted · 17.9 s");
  CHECK(t.bad() == 4);
  CHECK(t.total == 341);
  CHECK(t.ran() == 316);
}
