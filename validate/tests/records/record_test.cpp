// SPDX-License-Identifier: Apache-2.0
#include "validate/records/record.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "catch_shim.hpp"
#include "validate/base/error.hpp"
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
  r.kernel = "naive", r.backend = "simt", r.verdict = v, r.reason = std::move(reason);
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
      if (xml.substr(i, e.size()) == e) return i += e.size(), true;
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

TEST_CASE("record: lines are whole, and a new file starts empty") {
  const Folder folder;
  const std::string path = folder / "run.jsonl";
  { JsonLines(path).write("an older run"); }
  JsonLines lines(path);
  CHECK(text_of(path).empty());
  lines.write("{\"a\":1}");
  CHECK(text_of(path) == "{\"a\":1}\n");
  lines.write("{\"b\":2}");
  CHECK(text_of(path) == "{\"a\":1}\n{\"b\":2}\n");
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
