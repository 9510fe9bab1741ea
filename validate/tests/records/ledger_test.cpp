// SPDX-License-Identifier: Apache-2.0
// Ledgers: what counts as a lost fault, a new alarm, an err/bound that moved; and the files of witnesses.
#include "validate/records/ledger.hpp"

#include <unistd.h>

#include <functional>

#include "catch_shim.hpp"
#include "validate/base/error.hpp"
#include "validate/records/faults.hpp"
#include "validate/records/output_file.hpp"

using namespace assay;

namespace {

const std::string kCase = "softmax/naive f16 rows=3 cols=4 seed=1", kFault = "softmax/wrong f16 rows=3 cols=4 seed=1";

LedgerLine line(const std::string& verdict, const std::string& margin, const std::string& repro = kCase) {
  const bool faulty = repro == kFault;
  return {faulty ? "witnesses" : "smoke", faulty, verdict, verdict == "passed" ? "-" : "T1", margin, repro};
}

Ledger ledger(std::vector<LedgerLine> lines) {
  Ledger l;
  l.commit = "one";
  l.suites = "00ff";
  l.judges = {{"softmax", "aaaa"}};
  l.kernels = {{"softmax/naive", "bbbb"}};
  l.lines = std::move(lines);
  return l;
}

// A file that is removed again.
struct File {
  std::string path;
  explicit File(const std::string& text) : path("ledger_test." + std::to_string(::getpid())) { write_whole(path, text); }
  ~File() { ::unlink(path.c_str()); }
};

std::string message_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const BadInput& e) {
    return e.what();
  }
  return "no error";
}

}  // namespace

TEST_CASE("ledger: its text is read back") {
  const Ledger l = ledger({line("passed", "0.5"), line("failed", "inf", kFault)});
  const File file(to_text(l));
  const Ledger again = read_ledger(file.path);
  CHECK(to_text(again) == to_text(l));
  CHECK(again.lines[1].bad());
  CHECK(difference(l, again).holds());
}

TEST_CASE("ledger: what is none is refused with its line") {
  CHECK(message_of([] { read_ledger("no/such/file"); }).find("no/such/file") != std::string::npos);
  CHECK(message_of([] { read_ledger(File("something else").path); }).find("is no ledger") != std::string::npos);
  CHECK(message_of([] { read_ledger(File("assay ledger 1\ncommit\tone").path); }).find("holds no verdict") != std::string::npos);
  CHECK(message_of([] { read_ledger(File("assay ledger 1\ncommit\tone\nwhat").path); }).find(":3: no line of a ledger") !=
        std::string::npos);
}

TEST_CASE("ledger: a fault that nothing finds any more is lost, a sound kernel that fails is an alarm") {
  const Ledger old = ledger({line("passed", "0.5"), line("failed", "inf", kFault)});
  LedgerDifference d = difference(old, ledger({line("passed", "0.5"), line("passed", "0.9", kFault)}));
  CHECK(d.lost.size() == 1);
  CHECK(d.alarms.empty());
  CHECK(d.faults == 1);
  CHECK_FALSE(d.holds());
  d = difference(old, ledger({line("passed", "0.5")}));  // it is not judged any more
  CHECK(d.lost.size() == 1);
  d = difference(old, ledger({line("failed", "7"), line("failed", "inf", kFault)}));
  CHECK(d.lost.empty());
  CHECK(d.alarms.size() == 1);
  CHECK_FALSE(d.holds());
  // Another case finds the fault: it is not lost.
  LedgerLine elsewhere = line("failed", "3", kFault);
  elsewhere.repro = "softmax/wrong f16 rows=9 cols=9 seed=1";
  d = difference(old, ledger({line("passed", "0.5"), line("passed", "0.9", kFault), elsewhere}));
  CHECK(d.lost.empty());
}

TEST_CASE("ledger: another tier, and an alarm that is gone, are told") {
  const Ledger old = ledger({line("failed", "7"), line("failed", "inf", kFault)});
  Ledger now = ledger({line("passed", "0.5"), line("failed", "inf", kFault)});
  now.judges["softmax"] = "cccc";
  now.lines[1].tiers = "T4";
  const LedgerDifference d = difference(old, now);
  CHECK(d.holds());
  CHECK(d.told.size() == 2);
  CHECK(d.changed == std::vector<std::string>{"judge of softmax"});
}

TEST_CASE("ledger: an err/bound may move a little where the judge changed, and not at all where nothing did") {
  const Ledger old = ledger({line("passed", "0.5")});
  Ledger now = ledger({line("passed", "0.501")});
  CHECK(difference(old, now).unexplained);
  CHECK_FALSE(difference(old, now).holds());
  now.judges["softmax"] = "cccc";
  CHECK(difference(old, now).moved.empty());
  now.lines[0].margin = "0.53";
  CHECK(difference(old, now).moved.size() == 1);
  CHECK(difference(old, now).holds());
  now.lines[0].margin = "-";
  CHECK(difference(old, now).moved.size() == 1);
}

TEST_CASE("ledger: it is made of the records of one state of the tree") {
  RecordFile smoke, faults;
  smoke.path = "build/smoke.jsonl";
  faults.path = "build/witnesses.jsonl";
  for (RecordFile* f : {&smoke, &faults}) {
    f->commit = "one";
    f->suites = "00ff";
    f->judges = {{"softmax", "aaaa"}};
  }
  smoke.kernels = {{"softmax/naive", "bbbb"}, {"softmax/library", ""}};
  smoke.cases = {{.op = "softmax", .kernel = "naive", .verdict = "passed", .repro = kCase, .caught_by = {}, .margin = 0.51234}};
  faults.cases = {{.op = "softmax", .kernel = "wrong", .verdict = "failed", .repro = kFault, .caught_by = {"T1", "T4"}}};
  const Ledger l = ledger_of({&smoke, 1}, {&faults, 1});
  REQUIRE(l.lines.size() == 2);
  CHECK(l.lines[0].set == "smoke");
  CHECK(l.lines[0].margin == "0.5123");
  CHECK(l.lines[1].faulty);
  CHECK(l.lines[1].tiers == "T1,T4");
  CHECK(l.kernels.size() == 1);
  faults.judges["softmax"] = "cccc";
  CHECK(message_of([&] { ledger_of({&smoke, 1}, {&faults, 1}); }).find("another version of softmax") != std::string::npos);
  faults.judges["softmax"] = "aaaa";
  faults.incomplete = "the run was interrupted";
  CHECK(message_of([&] { ledger_of({&smoke, 1}, {&faults, 1}); }).find("interrupted") != std::string::npos);
}

TEST_CASE("faults: a file of witnesses is written and read back, and what is none is refused with its line") {
  const std::vector<Fault> faults{
      {"half", "", "softmax/half f16 rows=1 cols=1", Tier::T4},
      {"first_call", "softmax/first_call f16 rows=1 cols=1", "softmax/first_call f16 rows=2 cols=1", Tier::T1}};
  const std::string text = faults_text(faults);
  const File file(text);
  const std::vector<Fault> again = read_faults(file.path);
  REQUIRE(again.size() == 2);
  CHECK(again[0].kernel == "first_call");
  CHECK(again[0].after == faults[1].after);
  CHECK(again[1].tier == Tier::T4);
  CHECK(faults_text(again) == text);
  const auto refused = [](const std::string& wrong) { return message_of([&] { read_faults(File(wrong).path); }); };
  CHECK(refused("witness: x\n").find(":1: a line [KERNEL] was expected") != std::string::npos);
  CHECK(refused("[a]\nwitness: x\n").find("'a' lacks its witness or its tier") != std::string::npos);
  CHECK(refused("[a]\ntier: T1\n[b]\n").find("'a' lacks") != std::string::npos);
  CHECK(refused("[a]\ntier: T7\n").find(":2: unknown tier 'T7'") != std::string::npos);
  CHECK(refused("[a]\nwitness: x\ntier: T1\n[a]\n").find("stands here twice") != std::string::npos);
  CHECK(refused("[a]\nwhat: x\n").find("'witness: LINE'") != std::string::npos);
}

TEST_CASE("faults: the lines of an edit are kept as they are, and a new edit needs no witness yet") {
  const std::string edit =
      "fault: f.\ncaught by: c.\nkernel: naive\n-  float max = 0;\n+  float max;\n\n   once();\n+#pragma unroll\n";
  const std::string witness = "witness: softmax/wrong f16 rows=1 cols=1\ntier: T1\n";
  const File file("# A comment.\n\n[wrong]\n" + edit + witness + "\n\n[file]\n" + witness);
  const std::vector<Fault> faults = read_faults(file.path);
  REQUIRE(faults.size() == 2);
  CHECK(faults[0].edit == edit);
  CHECK(faults[1].edit.empty());
  const std::string text = faults_text(faults) + "\n";  // as write_whole() ends it
  CHECK(text.ends_with("\n[file]\n" + witness + "\n[wrong]\n" + edit + witness));

  const File unseen("[wrong]\n" + edit);
  CHECK(message_of([&] { read_faults(unseen.path); }).find("'wrong' lacks its witness") != std::string::npos);
  const std::vector<Fault> again = read_edits(unseen.path);
  REQUIRE(again.size() == 1);
  CHECK((faults_text(again) + "\n").ends_with("\n\n[wrong]\n" + edit));
  CHECK(read_edits("no/such/file").empty());
}
