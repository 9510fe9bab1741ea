// SPDX-License-Identifier: Apache-2.0
#include "validate/command/usage.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>

#include "validate/base/error.hpp"
#include "validate/base/version.hpp"
#include "validate/cases/suite.hpp"
#include "validate/problem/op.hpp"

namespace assay {

namespace {

struct Line {
  std::string_view term, text;
};

constexpr Line kBadUsage{"2", "bad usage, bad input, or an output that cannot be written"};
constexpr Line kInterrupted{"130", "interrupted; the record file has whole lines"};
constexpr Line kIncompleteRun{
    "3",
    "evidence incomplete: nothing was judged, the budget was spent, memory was short, a kernel cannot be "
    "watched, a worker left a case out, a record file to compare with is of a part of its run, or the machine is at fault "
    "(--partial: 0); with --strict: a kernel takes few of the cases, or declares what they do not need"};
constexpr Line kIncompleteRecords{"3", "records of a part of their run, as the first line says (--partial: 0)"};
constexpr Line kDatasets{"ASSAY_DATASETS", "folder of the datasets, if --datasets is not given"};
constexpr Line kVendor[] = {
    {"ASSAY_VENDOR_PATH", "folders to search first for vendors' libraries"},
    {"ASSAY_CUBLASLT", "set to first: use the algorithm that cuBLASLt proposes first, not the fastest of eight"}};
constexpr Line kThreads{"OMP_NUM_THREADS", "threads that compute a golden (default: one per core)"};
constexpr Line kNoColor{"NO_COLOR", "not empty: no colours, unless --color says otherwise"};

struct About {
  std::string_view subcommand;
  std::vector<Line> exit_codes, environment;
};

const std::vector<About>& about() {
  static const std::vector<About> all{
      {"list", {{"0", "done"}, kBadUsage}, {kDatasets}},
      {"describe", {{"0", "done"}, kBadUsage}, {}},
      {"run",
       {{"0", "at least one case was judged, and nothing is wrong; unsupported cases do not count"},
        {"1", "a verdict is bad"},
        kBadUsage,
        kIncompleteRun,
        kInterrupted},
       {kDatasets, kVendor[0], kVendor[1], kThreads, kNoColor}},
      {"replay",
       {{"0", "the case passed"}, {"1", "a verdict is bad"}, kBadUsage, kIncompleteRun, kInterrupted},
       {kVendor[0], kVendor[1], kThreads, kNoColor}},
      {"selfcheck",
       {{"0", "every broken kernel failed"}, {"1", "one was missed"}, kBadUsage, {"3", "the machine is at fault"}, kInterrupted},
       {kDatasets, kVendor[0], kThreads}},
      {"bench",
       {{"0", "every output is right"},
        {"1", "an output is wrong; with --ab, a row is SLOWER"},
        kBadUsage,
        {"3", "the machine is at fault"},
        kInterrupted},
       {kDatasets, kVendor[0], kVendor[1], kThreads}},
      {"compare",
       {{"0", "no row is SLOWER and correctness is unchanged"},
        {"1", "a row is SLOWER, or a verdict got worse; with --calibrate, more than 1 % false alarms"},
        kBadUsage,
        kIncompleteRecords},
       {}},
      {"merge",
       {{"0", "every shard is there, and nothing is wrong"}, {"1", "a verdict is bad"}, kBadUsage, kIncompleteRecords},
       {}},
      {"ledger", {{"0", "written"}, kBadUsage}, {}},
      {"ledger-diff",
       {{"0", "nothing is lost, no new alarm"},
        {"1", "a fault is lost, a sound kernel fails, or an err/bound moved though neither kernel nor judge changed"},
        kBadUsage},
       {}},
      {"report", {{"0", "written"}, kBadUsage, kIncompleteRecords}, {}},
      {"inputs", {{"0", "written"}, kBadUsage}, {kThreads}},
      {"golden", {{"0", "written"}, kBadUsage, {"3", "memory was short"}}, {kThreads}},
      {"judge",
       {{"0", "the outputs passed"},
        {"1", "they are wrong"},
        kBadUsage,
        {"3", "nothing was shown, or memory was short; with --strict: the files hold what the op does not have"}},
       {kThreads, kNoColor}},
      {"probe", {{"0", "no result differs"}, {"1", "a result differs"}, kBadUsage, {"3", "the machine is at fault"}}, {}},
      {"cost", {{"0", "done"}, kBadUsage, {"3", "there was no case"}, kInterrupted}, {kDatasets, kThreads}},
      {"model",
       {{"0", "the tokens were printed; with --check, everything is right"},
        {"1", "with --check: something is wrong; a kernel was stopped or crashed"},
        kBadUsage,
        {"3", "the machine is at fault"},
        {"130", "interrupted"}},
       {kDatasets, kVendor[0], kThreads}},
      {"doctor",
       {{"0", "done"}, {"1", "with --worker, --set, --plugin or --ptx: it does not keep to the protocol"}, kBadUsage},
       {kDatasets, kVendor[0]}},
  };
  return all;
}

std::vector<const CLI::App*> subcommands(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

const CLI::Option* option(const CLI::App& sub, const std::string& name) { return sub.get_option_no_throw(name); }

// The error for a word where none is expected: says what the word names, and the flag that takes it.
std::string stray_word(const CLI::App& sub, std::string_view word) {
  Names ops_, kernels_, dtypes{"f16", "bf16", "f32"};
  std::vector<std::string> with_op;
  for (const Op& op : ops()) ops_.push_back(op.name);
  for (const Kernel& k : kernels()) {
    kernels_.push_back(k.name);
    with_op.push_back(fmt::format("{}/{}", k.op, k.name));
  }
  kernels_.insert(kernels_.end(), with_op.begin(), with_op.end());
  const struct {
    const char *flag, *kind;
    const Names& names;
  } kinds[] = {
      {"--op", "op", ops_}, {"--kernel", "kernel", kernels_}, {"--suite", "suite", suite_names()}, {"--dtype", "dtype", dtypes}};
  const auto step = [&](const char* flag, std::string_view name) {
    return fmt::format("(validate {} {} {})", sub.get_name(), flag, name);
  };
  for (const auto& [flag, kind, names] : kinds)
    if (option(sub, flag) && std::find(names.begin(), names.end(), word) != names.end())
      return fmt::format("'{}' was not expected here; the {} goes after {}  {}", word, kind, flag, step(flag, word));
  for (const auto& [flag, kind, names] : kinds)
    if (const std::string_view near = nearest(word, names); option(sub, flag) && !near.empty())
      return fmt::format("'{}' was not expected here. Did you mean '{} {}'?  {}", word.substr(0, 200), flag, near,
                         step(flag, near));
  return fmt::format("'{}' was not expected here", word.substr(0, 200));
}

std::string early_flag(const CLI::App& sub, const std::string& flag) {
  return fmt::format("the subcommand comes before its flag '{}'  (validate {} --help)", flag, sub.get_name());
}

std::string lines_text(const char* title, const std::vector<Line>& lines) {
  constexpr std::size_t kTerm = 18, kWidth = 80;
  std::string text = lines.empty() ? "" : fmt::format("{}:\n", title);
  for (const Line& line : lines) {
    std::string rest(line.text), begin = fmt::format("  {:<{}}", line.term, kTerm);
    while (!rest.empty()) {
      std::size_t end = rest.size();
      if (begin.size() + end > kWidth) end = rest.rfind(' ', kWidth - begin.size());
      text += begin + rest.substr(0, end) + "\n";
      rest.erase(0, std::min(rest.size(), end + 1));
      begin = std::string(2 + kTerm, ' ');
    }
  }
  return text;
}

// Escapes a text for roff: backslashes, hyphens, line ends, and dots or quotes at the start of a line.
std::string roff(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\') out += "\\e";
    else if (c == '-') out += "\\-";
    else if (c == '\n') out += "\n.br\n";
    else if ((c == '.' || c == '\'') && (out.empty() || out.back() == '\n')) out += fmt::format("\\&{}", c);
    else out += c;
  }
  return out;
}

std::string items(const std::vector<Line>& lines) {
  std::string text;
  for (const Line& line : lines) text += fmt::format(".TP\n.B {}\n{}\n", roff(line.term), roff(line.text));
  return text;
}

}  // namespace

std::string usage_error(const CLI::App& app, const CLI::ParseError& error, std::string_view first) {
  const std::vector<CLI::App*> chosen = app.get_subcommands();
  Names names;
  if (chosen.empty()) {
    for (const CLI::App* sub : subcommands(app)) names.push_back(sub->get_name());
    if (first.empty()) return fmt::format("a subcommand is required: {}", fmt::join(names, ", "));
    const std::string flag(first.substr(0, first.find('=')));
    for (const CLI::App* sub : subcommands(app))
      if (first.starts_with('-') && option(*sub, flag)) return early_flag(*sub, flag);
    if (first.starts_with('-')) return unknown("flag", flag, {"--help", "--version"});
    const std::string_view near = nearest(first, names);
    return unknown("subcommand", first, names) + (near.empty() ? "" : fmt::format("  (validate {} --help)", near));
  }
  const CLI::App& sub = *chosen.front();
  if (dynamic_cast<const CLI::ExtrasError*>(&error)) {
    std::vector<std::string> flags;
    for (const CLI::Option* o : sub.get_options()) flags.push_back(o->get_name());
    for (const std::string& flag : flags)
      if (flag.starts_with('-')) names.push_back(flag);
    for (const std::string& extra : app.remaining(true)) {
      if (!extra.starts_with('-')) continue;
      const std::string flag = extra.substr(0, extra.find('='));
      return option(sub, flag) ? early_flag(sub, flag) : unknown("flag", flag, names);
    }
    for (const std::string& extra : app.remaining(true)) return stray_word(sub, extra);
  }
  const std::string text = error.what();
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error))
    return fmt::format("{} {}", text.substr(0, text.find(':')),
                       text.find("At Most") == text.npos ? "needs a value" : "takes one value, and is given several");
  return text;
}

std::string with_next_step(const CLI::App& app, std::string sentence) {
  if (sentence.ends_with(')') && sentence.find("  (") != sentence.npos) return sentence;
  const std::vector<CLI::App*> chosen = app.get_subcommands();
  return sentence + (chosen.empty() ? "  (validate --help)" : fmt::format("  (validate {} --help)", chosen.front()->get_name()));
}

void add_footers(CLI::App& app) {
  for (const About& a : about())
    for (CLI::App* sub : app.get_subcommands([&](const CLI::App* s) { return s->get_name() == a.subcommand; }))
      sub->footer(lines_text("Exit codes", a.exit_codes) + lines_text("Environment", a.environment));
}

std::string man_page(const CLI::App& app) {
  std::string text = fmt::format(
      ".TH VALIDATE 1 \"\" \"Assay {}\" \"User Commands\"\n.SH NAME\nvalidate \\- {}\n.SH SYNOPSIS\n.B validate\n.I SUBCOMMAND\n"
      "[\\fIFLAGS\\fR]\n.SH DESCRIPTION\n{}\n",
      roff(version()), roff("checks that GPU kernels compute the right numbers, and times them"), roff(app.get_description()));
  text += "A duration is a number of seconds, or one with a unit: 60, 60s, 500ms, 2m, 1h.\n.SH SUBCOMMANDS\n";
  std::vector<Line> environment;
  for (const CLI::App* sub : subcommands(app)) {
    text += fmt::format(".SS \"validate {}\"\n{}\n", roff(sub->get_name()), roff(sub->get_description()));
    for (const CLI::Option* o : sub->get_options()) {
      if (o->get_name() == "--help" || o->get_group().empty()) continue;
      const std::string standard = o->get_default_str();
      text += fmt::format(".TP\n.B {}{}\n{}{}\n", roff(o->get_name(true, true)),
                          o->get_expected_max() > 0 && !o->get_positional() ? " " + roff(o->get_type_name()) : "",
                          roff(o->get_description()), standard.empty() ? "" : roff(fmt::format(" (default: {})", standard)));
    }
    for (const About& a : about())
      if (a.subcommand == sub->get_name()) {
        text += ".PP\nExit status:\n" + items(a.exit_codes);
        for (const Line& line : a.environment)
          if (std::none_of(environment.begin(), environment.end(), [&](const Line& l) { return l.term == line.term; }))
            environment.push_back(line);
      }
  }
  text +=
      ".SH EXIT STATUS\n0 done, 1 something was shown to be wrong, 2 bad usage or bad input, 3 evidence incomplete, 130 "
      "interrupted";
  text += ".\nWhat they mean for each subcommand is told above.\n.SH ENVIRONMENT\n" + items(environment);
  return text;
}

}  // namespace assay
