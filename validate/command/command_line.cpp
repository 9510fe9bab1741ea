// SPDX-License-Identifier: Apache-2.0
// Defines the subcommands and their flags, and parses a command line.  Each callback owns the variables that its flags set.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <memory>
#include <string_view>

#include "validate/base/error.hpp"
#include "validate/base/version.hpp"
#include "validate/command/commands.hpp"
#include "validate/command/flags.hpp"
#include "validate/command/usage.hpp"
#include "validate/console/environment.hpp"
#include "validate/model/command.hpp"
#include "validate/opfile/op_file.hpp"

namespace assay {

namespace {

void add_list(CLI::App& app, int& code) {
  const auto what = std::make_shared<std::string>("kernels");
  const auto listed = std::make_shared<Selection>();
  CLI::App& list = *app.add_subcommand("list", "list ops, kernels, cases, coverage or backends");
  list.add_option("what", *what, "ops, kernels, cases, coverage or backends")
      ->check(one_of("list", {"ops", "kernels", "cases", "coverage", "backends"}));
  add_selection(list, *listed);
  const auto set = std::make_shared<std::string>();
  add_set_flag(list, *set, "the kernels of this set");
  const auto json = std::make_shared<bool>();
  add_json_flag(list, *json);
  list.callback([=, &list, &code] {
    const std::string why = fmt::format("'list {}' takes no such flag", *what);
    if (*what == "coverage") refuse(list, {"--kernel", "--dtype", "-k", "--no-vendor", "--shard"}, why);
    else if (*what != "cases") refuse(list, kCaseFlags, why);
    if (*what == "ops" || *what == "backends") refuse(list, kKernelFlags, why);
    if (*what == "backends" || *what == "coverage") refuse(list, {"--set"}, why);
    check_selection(list, *listed);
    code = list_command(*what, *listed, *set, *json);
  });
}

void add_describe(CLI::App& app, int& code) {
  const auto op = std::make_shared<std::string>();
  CLI::App& describe =
      *app.add_subcommand("describe", "show an op: formula, axes, tensors, kernels, fills; or numerics, or records");
  describe.add_option("op", *op, "the op's name; numerics: its words; records: their schema")->required();
  const auto set = std::make_shared<std::string>();
  add_set_flag(describe, *set, "the kernels of this set");
  const auto json = std::make_shared<bool>();
  add_json_flag(describe, *json);
  describe.callback([=, &describe, &code] {
    if (*op == "numerics" || *op == "records") refuse(describe, {"--set"}, fmt::format("'describe {}' takes no such flag", *op));
    code = describe_command(*op, *set, *json);
  });
}

// Adds what a file of inputs may leave unsaid, but for the op.
void add_given(CLI::App& app, GivenFlags& f) {
  app.add_option("--attribute", f.attributes,
                 "an attribute of the op that the inputs' metadata lacks, like mask=causal (repeatable)")
      ->allow_extra_args(false);
  app.add_option("--layout", f.layouts,
                 "how the axes of a tensor lie, if not as the op has them: q=batch,heads,seq_q,head_dim or q=bhsd (repeatable)")
      ->allow_extra_args(false);
  app.add_option("--ignore", f.ignored, "a name in the files that means nothing, though it is near one of the op's (repeatable)")
      ->allow_extra_args(false);
}
void add_suggest(CLI::App& app, bool& suggest) {
  app.add_flag("--suggest-numerics", suggest, "name the tightest of some usual declarations that the outputs meet; no verdict");
}

void add_shrink_flags(CLI::App& app, RunFlags& f) {
  constexpr double kUsual = 5;
  f.shrink_s = kUsual;
  CLI::Option* shrink =
      app.add_option("--shrink", f.shrink_s, "time to shrink a failing case, the first of each reason: 5s, 500ms")
          ->capture_default_str()
          ->transform(duration());
  app.add_flag_callback(
         "--no-shrink", [&f] { f.shrink_s = 0; }, "do not shrink failing cases")
      ->excludes(shrink);
}

void add_run(CLI::App& app, int& code) {
  const auto f = std::make_shared<RunFlags>();
  CLI::App& run = *app.add_subcommand("run", "judge kernels over a suite of cases");
  add_run_flags(run, *f);
  add_loaded(run, *f);
  add_shrink_flags(run, *f);
  add_partial(run, f->partial);
  writes_file(run.add_option("--resume", f->resume,
                             "record file of the same run, interrupted: judge what it lacks and add it; a new file is begun"));
  run.add_flag("--all-relations", f->all_relations, "check every relation on every case, not one on a case in four (slower)");
  reads_file(run.add_option("--same-as", f->same_as, "record file: every case must get the verdict that it has there"));
  run.add_flag("--bit-equal", f->bit_equal, "with --same-as: the outputs must be equal bit for bit too");
  reads_file(run.add_option("--last-failed", f->last_failed, "record file: judge only its bad cases, instead of a suite"));
  reads_file(run.add_option("--inputs", f->inputs,
                            "judge kernels on the tensors in this file, .safetensors or .npz, instead of a suite"));
  add_given(run, f->given);
  add_suggest(run, f->suggest);
  run.add_flag(
      "--strict", f->strict,
      "exit with 3 if a kernel takes less than half of the cases, or none of a dtype or layout, or declares what no case needs");
  run.add_flag("--reduced", f->reduced, "cut model shapes down as on simt, so that records can be compared");
  run.callback([f, &run, &code] {
    check_selection(run, f->selection);
    check_loaded(run, *f);
    if (!f->last_failed.empty())
      for (const Names& flags : {kCaseFlags, Names{"--reduced"}})
        refuse(run, flags, "--last-failed takes its cases from the records");
    if (f->inputs.empty()) refuse(run, {"--attribute", "--layout", "--ignore"}, "only a file of --inputs leaves it unsaid");
    else
      for (const Names& flags : {kCaseFlags, Names{"--dtype", "--last-failed", "--reduced", "--all-relations", "--resume"}})
        refuse(run, flags, "the file of --inputs is the case");
    if (!f->resume.empty()) refuse(run, {"--json", "--fail-fast"}, "--resume adds to its own file, until all cases are judged");
    if (f->bit_equal && f->same_as.empty())
      throw BadInput("--bit-equal needs a record file to compare with  (validate run --same-as RECORDS --bit-equal)");
    code = run_command(*f);
  });
}

void add_selfcheck(CLI::App& app, int& code) {
  const auto f = std::make_shared<SelfcheckFlags>();
  f->run.set = "trial";
  CLI::App& trial = *app.add_subcommand("selfcheck", "test the judge: every broken kernel must fail");
  add_run_flags(trial, f->run);
  add_set_flag(trial, f->run.set, "the set that has the broken kernels")->capture_default_str();
  trial.get_option("--md")->description("write the table of broken kernels and tiers to this file, as Markdown");
  trial.add_flag("--every-case", f->every_case, "go on judging a kernel after its first failure");
  trial.add_flag("--policies", f->policies, "also judge the same outputs by rules that are used elsewhere, like allclose");
  trial.add_option("--policy", f->policy, "judge by this one of those rules instead")
      ->check(one_of("policy", Names(kPolicies.begin(), kPolicies.end())));
  trial.add_flag("--corpus", f->corpus,
                 "check the broken kernels: each must pass a case or fail by T4 alone, and half of them must pass allclose-1e-2 "
                 "on one fixed shape");
  trial.add_option(
      "--witnesses", f->witnesses,
      "folder of OP/faults.txt, like cuda: judge each broken kernel on its witness alone, by whose tier it must fail");
  trial
      .add_option("--write-witnesses", f->write_witnesses,
                  "search the suite for witnesses, and write OP/faults.txt into this folder")
      ->excludes("--witnesses");
  reads_file(trial.add_option("--unless", f->unless,
                              "ledger: leave out the ops whose judge is of the version there, if the suites are too"));
  trial.callback([f, &trial, &code] {
    check_selection(trial, f->run.selection);
    if (!f->witnesses.empty()) refuse(trial, kCaseFlags, "a witness is the only case of its kernel");
    for (const char* flag : {"--witnesses", "--write-witnesses"})
      if (trial.count(flag))
        refuse(trial, {"--every-case", "--policies", "--policy", "--corpus", "--md"}, fmt::format("not with {}", flag));
    code = selfcheck_command(*f);
  });
}

void add_replay(CLI::App& app, int& code) {
  const auto f = std::make_shared<RunFlags>();
  const auto words = std::make_shared<std::vector<std::string>>();  // quoted repro lines, or the words of one
  CLI::App& replay = *app.add_subcommand("replay", "judge one case and print everything about it");
  replay.add_option("line", *words, "a repro line; several, each quoted, are judged in order in one process");
  reads_file(replay.add_option("--from", f->last_failed, "record file: replay each of its bad cases, instead of a line"));
  add_backend(replay, f->machine);
  add_loaded(replay, *f);
  replay.add_flag("--watch", f->watch, "also find races, uninitialised reads and unwritten outputs (simt)");
  add_timeout(replay, f->timeout_s);
  add_sandbox_flags(replay);
  add_colour(replay, f->colour);
  add_partial(replay, f->partial);
  add_shrink_flags(replay, *f);
  replay.callback([=, &replay, &code] {
    check_loaded(replay, *f);
    if (words->empty() == f->last_failed.empty())
      throw BadInput("replay takes a repro line, or --from RECORDS  (validate replay 'softmax/naive f16 rows=3 cols=257')");
    const auto quoted = [](const std::string& word) { return word.find(' ') != word.npos; };
    const bool several = std::all_of(words->begin(), words->end(), quoted);
    code = replay_command(several ? *words : std::vector{fmt::format("{}", fmt::join(*words, " "))}, *f);
  });
}

[[noreturn]] void refuse_to_time(const char* flag) {
  throw BadInput(
      fmt::format("{}: the worker protocol tells no time of a launch; bench times the kernels of a --plugin, and those "
                  "that are built in  (docs/door.md)",
                  flag));
}

void add_bench(CLI::App& app, int& code) {
  const auto f = std::make_shared<BenchFlags>();
  CLI::App& bench = *app.add_subcommand("bench", "time kernels on a GPU, and count their bytes on simt");
  add_kernels(bench, f->selection);
  add_backend(bench, f->machine);
  add_timeout(bench, f->timeout_s);
  add_records(bench, f->json, "write one record per row to this file, as JSON Lines");
  bench.add_option("--suite", f->suite,
                   "rows of a bench suite, the name of a file in datasets/bench/suites (default: the ops' own shapes)");
  bench.add_option("--shape", f->shapes, "a shape to time, like 'rows=16384 cols=8192' (repeatable)");
  bench
      .add_option("--baseline", f->baseline,
                  "the kernel that speedup and score refer to, or vendor; none: no kernel beside the others")
      ->capture_default_str();
  bench.add_option("--seconds", f->seconds, "how long to time each row, like 0.3 or 300ms")
      ->capture_default_str()
      ->transform(duration(0.01, 60));
  bench.add_option("--processes", f->processes, "how many processes time each row, one after the other")
      ->capture_default_str()
      ->transform(whole_number(1, 64));
  reads_file(bench.add_option("--plugin", f->plugin,
                              "time the kernels of this shared object too, in processes that take turns with ours"));
  add_set_flag(bench, f->set, "count the bytes of the kernels of this set")->excludes("--plugin");
  for (const char* flag : {"--worker", "--ptx"})
    bench.add_option_function<std::string>(flag, [flag](const std::string&) { refuse_to_time(flag); })->group("");
  bench.add_option("--ab", f->ab, "another build's validate, whose processes take turns with this one's");
  writes_file(bench.add_option("--ab-json", f->ab_json, "write the other build's records to this file"));
  bench.add_flag("--sites", f->sites, "print bytes, sectors and bank wavefronts by source line, as counted on simt");
  bench.add_flag("--memory", f->memory, "run nothing; print the bytes of device memory that tensors and workspace take");
  bench.add_flag("--dram", f->dram, "also count DRAM bytes with the GPU's counters");
  bench.add_flag("--copy", f->copy, "in rows that memory limits, also time a copy of as many bytes in turns with the kernels");
  bench.add_flag_callback(
      "--clean", [f] { f->l2 = L2::clean; }, "flush the L2 cache so that nothing in it waits to be written back");
  bench.add_flag("--resources", f->resources, "also print registers, shared memory and occupancy of each function");
  bench.add_flag("--once", f->once, "only launch each kernel once, for a profiler (.ci/profile)");
  bench.add_flag("--times-only", f->times_only, "do not count bytes on simt");
  bench.callback([f, &code] {
    f->machine.plugin = !f->plugin.empty();
    code = bench_command(*f);
  });
}

void add_compare(CLI::App& app, int& code) {
  const auto f = std::make_shared<CompareFlags>();
  CLI::App& compare = *app.add_subcommand("compare", "compare records with a baseline: FASTER, SLOWER, SAME or INCONCLUSIVE");
  reads_file(compare.add_option("files", f->files, "the baseline, then the new file")->required());
  compare.add_flag("--calibrate", f->calibrate, "compare the processes of one file with each other, and count false alarms");
  compare.add_flag("--accept", f->accept, "make the new file the baseline");
  compare.add_option("-m", f->reason, "why it is accepted");
  add_partial(compare, f->partial);
  compare.add_flag("--all", f->all, "show every row, also those that are SAME");
  compare.add_option("--floor", f->floor_percent, "the smallest difference that matters, in percent")
      ->capture_default_str()
      ->check(number("percent", 0.1, 100, "0.1 to 100 percent"));
  compare.add_option("--seed", f->seed, "seed of the bootstrap")->capture_default_str()->transform(seed());
  compare.callback([f, &code] { code = compare_command(*f); });
}

void add_report(CLI::App& app, int& code) {
  const auto f = std::make_shared<ReportFlags>();
  CLI::App& report = *app.add_subcommand("report", "write records as one HTML page, as Markdown or as CSV");
  reads_file(report.add_option("files", f->files, "record files; of a row that several have, the latest counts")->required());
  writes_file(report.add_option("-o", f->output, "file to write: FILE.html, FILE.md or FILE.csv")->required());
  add_partial(report, f->partial);
  report.callback([f, &code] { code = report_command(*f); });
}

void add_merge(CLI::App& app, int& code) {
  const auto f = std::make_shared<MergeFlags>();
  CLI::App& merge = *app.add_subcommand("merge", "put the records of all shards of a run together");
  reads_file(merge.add_option("files", f->files, "record files of run --shard 1/n to n/n, in any order")->required());
  add_records(merge, f->json, "the file to write");
  merge.get_option("--json")->required();
  add_partial(merge, f->partial);
  merge.callback([f, &code] { code = merge_command(*f); });
}

void add_ledger(CLI::App& app, int& code) {
  const auto f = std::make_shared<LedgerFlags>();
  CLI::App& ledger =
      *app.add_subcommand("ledger", "pack the verdicts of record files, to compare them with those of another state of the tree");
  writes_file(ledger.add_option("output", f->output, "the ledger to write")->required());
  reads_file(ledger.add_option("--sound", f->sound, "record file of kernels that must pass (repeatable)")
                 ->allow_extra_args(false)
                 ->required());
  reads_file(
      ledger.add_option("--faults", f->faults, "record file of kernels that must fail (repeatable)")->allow_extra_args(false));
  ledger.callback([f, &code] { code = ledger_command(*f); });
}

void add_ledger_diff(CLI::App& app, int& code) {
  const auto f = std::make_shared<LedgerFlags>();
  CLI::App& diff =
      *app.add_subcommand("ledger-diff", "name the faults lost, the new alarms and the err/bound that moved between two ledgers");
  reads_file(diff.add_option("files", f->files, "the old ledger and the new one")->required()->expected(2));
  diff.add_flag("--all", f->all, "print every line");
  diff.callback([f, &code] { code = ledger_diff_command(*f); });
}

void add_unsaid(CLI::App& app, FileFlags& f) {
  app.add_option("--op", f.given.op, "the op of the inputs, if their metadata does not name it");
  add_given(app, f.given);
}

void add_inputs(CLI::App& app, int& code) {
  const auto words = std::make_shared<std::vector<std::string>>();
  const auto path = std::make_shared<std::string>();
  CLI::App& inputs = *app.add_subcommand("inputs", "write the inputs of a case to a file, for a kernel elsewhere");
  inputs.add_option("line", *words, "a repro line, like 'softmax f16 rows=3 cols=257'")->required();
  writes_file(inputs.add_option("-o", *path, "file to write: FILE.safetensors or FILE.npz")->required());
  inputs.callback([=, &code] { code = inputs_command(fmt::format("{}", fmt::join(*words, " ")), *path); });
}

void add_golden(CLI::App& app, int& code) {
  const auto f = std::make_shared<FileFlags>();
  const auto words = std::make_shared<std::vector<std::string>>();
  CLI::App& golden = *app.add_subcommand("golden", "write the right outputs of a case, or of inputs in a file");
  golden.add_option("line", *words, "a repro line, like 'softmax f16 rows=3 cols=257'");
  reads_file(golden.add_option("--inputs", f->inputs, "file of inputs, instead of a line"));
  add_unsaid(golden, *f);
  writes_file(golden.add_option("-o", f->outputs, "file to write: FILE.safetensors or FILE.npz")->required());
  golden.add_flag("--f64", f->unrounded, "write f64, not rounded to the outputs' dtypes");
  golden.callback([=, &golden, &code] {
    if (words->empty() == f->inputs.empty())
      throw BadInput("golden takes a repro line, or --inputs FILE  (validate golden 'softmax f16 rows=3 cols=257' -o y.npz)");
    if (f->inputs.empty()) refuse(golden, {"--op", "--attribute", "--layout", "--ignore"}, "a repro line already says it");
    code = golden_command(fmt::format("{}", fmt::join(*words, " ")), *f);
  });
}

void add_judge(CLI::App& app, int& code) {
  const auto f = std::make_shared<FileFlags>();
  CLI::App& judge = *app.add_subcommand("judge", "judge outputs in a file, which a kernel elsewhere made of inputs in a file");
  reads_file(judge.add_option("inputs", f->inputs, "file of the inputs, .safetensors or .npz")->required());
  reads_file(judge.add_option("outputs", f->outputs, "file of the outputs; the same, if the op changes no input")->required());
  add_unsaid(judge, *f);
  judge.add_option("--numerics", f->numerics, "how the outputs were computed, like 'accumulate=f32 chain=32+5'");
  judge.add_flag("--strict", f->strict, "exit with 3 if the files hold what the op does not have");
  add_suggest(judge, f->suggest);
  add_records(judge, f->json, "write the record to this file, as JSON Lines");
  add_colour(judge, f->colour);
  judge.callback([=, &code] { code = judge_command(*f); });
}

void add_probe(CLI::App& app, int& code) {
  const auto f = std::make_shared<ProbeFlags>();
  CLI::App& probe = *app.add_subcommand("probe", "run single device instructions; compare results with another machine");
  add_backend(probe, f->machine);
  add_records(probe, f->json, "write digests of the results to this file, as JSON Lines");
  reads_file(probe.add_option("--against", f->against,
                              "file of an earlier --json to compare with; or simt, to run it here and compare"));
  auto* ptx = probe.add_flag("--ptx", f->ptx, "instructions of PTX, each form that simt runs, instead of the device's words");
  probe.add_option("-k", f->part, "only instructions that have this text in their names");
  probe.add_option("--digests", f->digests, "with --ptx: make only so many of the 8 digests of a form")
      ->needs(ptx)
      ->transform(whole_number(1, 8));
  probe.callback([f, &code] { code = probe_command(*f); });
}

void add_cost(CLI::App& app, int& code) {
  const auto costed = std::make_shared<Selection>();
  const auto lines = std::make_shared<std::vector<std::string>>();
  CLI::App& cost = *app.add_subcommand("cost", "time the judge's own work on a case: inputs, golden, comparison");
  add_selection(cost, *costed);
  cost.add_option("lines", *lines, "repro lines to use instead of a suite");
  cost.callback([=, &cost, &code] {
    if (!lines->empty())
      for (const Names& flags : {kCaseFlags, kKernelFlags}) refuse(cost, flags, "a repro line already names the case");
    check_selection(cost, *costed);
    code = cost_command(*costed, *lines);
  });
}

void add_doctor(CLI::App& app, int& code) {
  CLI::App& doctor = *app.add_subcommand("doctor", "show what works on this machine, and what is missing");
  const auto json = std::make_shared<bool>();
  add_json_flag(doctor, *json);
  const auto f = std::make_shared<RunFlags>();
  add_loaded(doctor, *f, "check the worker of this {}");
  add_backend(doctor, f->machine);
  add_timeout(doctor, f->timeout_s);
  add_sandbox_flags(doctor);
  doctor.callback([=, &doctor, &code] {
    check_loaded(doctor, *f);
    if (f->plugin.empty() && f->worker.empty() && f->ptx.empty() && f->cu.empty() && f->set.empty()) {
      refuse(doctor, {"--timeout"}, "only a check of a --worker, a --set, a --plugin or a --ptx has a limit");
      refuse(doctor, {"--backend", "--skip-exit", "--require-gpu"}, "doctor looks at every backend");
      code = doctor_command(*json);
    } else {
      refuse(doctor, {"--json"}, "a check of a --worker, a --set, a --plugin or a --ptx prints no JSON");
      code = conformance_command(*f);
    }
  });
}

// Of each subcommand that looks at ops.  Returns where the files will be.
std::shared_ptr<std::vector<std::string>> add_op_files(CLI::App& app) {
  auto files = std::make_shared<std::vector<std::string>>();
  for (const char* name : {"list", "describe", "run", "replay", "compare", "report", "inputs", "golden", "judge", "doctor"})
    reads_file(app.get_subcommand(name)->add_option("--op-file", *files, "an op of your own, as JSON or Python (repeatable)"))
        ->allow_extra_args(false);
  return files;
}

}  // namespace

int command_line(int argc, char** argv) {
  char help[] = "--help";
  if (argc > 1 && std::string_view(argv[1]) == "help") argv[1] = help;
  CLI::App app{"Assay checks that GPU kernels compute the right numbers, and times them.", "validate"};
  app.set_version_flag("--version", std::string(version()) + " " + std::string(commit()));
  app.require_subcommand(1);
  int code = 0;
  for (const auto add :
       {add_list, add_describe, add_run, add_selfcheck, add_replay, add_bench, add_compare, add_merge, add_ledger,
        add_ledger_diff, add_report, add_inputs, add_golden, add_judge, add_probe, add_cost, add_model, add_doctor})
    add(app, code);
  const auto op_files = add_op_files(app);
  app.add_flag_callback(
         "--man",
         [&app] {
           fmt::print("{}", man_page(app));
           throw CLI::Success();
         },
         "the man page, as roff")
      ->group("");
  add_footers(app);
  // Note: the test of the pages' command lines (cmake/tests/docs.sh) parses them and must not run them.
  const std::vector<std::string> words(argv, argv + argc);
  app.parse_complete_callback([&] {
    check_environment();
    for (const CLI::App* used : app.get_subcommands()) {
      require_values(*used);
      require_lists(*used, words);
    }
    if (std::getenv("ASSAY_PARSE_ONLY")) throw CLI::Success();
    for (const CLI::App* used : app.get_subcommands()) require_files_apart(*used);
    if (!op_files->empty()) use_op_files(*op_files);
  });
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    if (e.get_exit_code() == 0) return app.exit(e);  // --help, --version
    throw BadInput(with_next_step(app, usage_error(app, e, argc > 1 ? argv[1] : "")));
  } catch (const BadInput& e) {
    throw BadInput(with_next_step(app, e.what()));
  }
  return code;
}

}  // namespace assay
