// SPDX-License-Identifier: Apache-2.0
// inputs, golden and judge: a kernel in any language on any machine is judged by the files that it reads and writes.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include "validate/base/error.hpp"
#include "validate/base/input.hpp"
#include "validate/base/stopwatch.hpp"
#include "validate/command/commands.hpp"
#include "validate/judge/declared.hpp"
#include "validate/judge/judge_given.hpp"
#include "validate/problem/numerics/numerics_text.hpp"
#include "validate/tasks/given.hpp"
#include "validate/tasks/loaded.hpp"

namespace assay {

namespace {

// Tensors with the values of a line's case.
TensorFile filled(const std::string& line) {
  const std::vector<OpShape> shapes = op_shapes();
  const Case c = parse_repro(line, shapes).what;
  return filled_tensors(op_named(c.op), c);
}

Given given_in(const std::string& path, const GivenFlags& flags) {
  TensorFile file = read_tensors(path);
  return of_file(path, [&] { return given_case(std::move(file), flags); });
}

// Inputs and outputs.
Given both_given(const FileFlags& flags) {
  Given inputs = given_in(flags.inputs, flags.given);
  for (const TensorSpec& t : inputs.op->tensors)
    if (t.options.updated && same_file(flags.inputs, flags.outputs))
      throw BadInput(fmt::format("'{}': {} changes '{}', so its inputs and its outputs must be in two files", flags.inputs,
                                 inputs.op->name, t.name));
  TensorFile outputs = read_tensors(flags.outputs);
  Given both = of_file(flags.outputs, [&] { return with_outputs(std::move(inputs), std::move(outputs), flags.given); });
  require_flags_used(flags.given, both.names);
  return both;
}

void print_tensor(std::string_view file, std::string_view name, std::string_view dtype, std::span<const std::int64_t> shape) {
  fmt::print("  {:<14}  {} {} {}\n", file, name, dtype, shape_text(shape));
}

void print_written(const std::string& path, const TensorFile& file) {
  for (const FileTensor& t : file.tensors)
    print_tensor(&t == file.tensors.data() ? "written" : "", t.name, name(*t.known), t.shape);
  fmt::print("  {:<14}  {}\n", "to", plain(path));
}

std::string unsaid_text(const GivenFlags& flags) {
  std::string text;
  if (!flags.op.empty()) text += " " + flag_text("--op", flags.op);
  for (const std::string& a : flags.attributes) text += " " + flag_text("--attribute", a);
  for (const std::string& layout : flags.layouts) text += " " + flag_text("--layout", layout);
  for (const std::string& name : flags.ignored) text += " " + flag_text("--ignore", name);
  return text;
}

void write_records(const FileFlags& flags, const Record& r, const std::vector<SuggestedLine>& suggested, const Tally& tally) {
  if (flags.json.empty()) return;
  JsonLines json(flags.json);
  Selection selection;
  selection.suite = "files";
  selection.seed = r.c.seed;
  RunHead head = head_of("files", selection);
  head.device = flags.outputs;
  for (const std::string& line : {to_json(head), to_json(r)}) json.write(line);
  for (const SuggestedLine& line : suggested) json.write(to_json(line));
  json.write(to_json(tally));
}

Record judged(const FileFlags& flags, const std::shared_ptr<const Given>& given, Suggested& suggested) {
  const Doing doing("computing the golden");
  const Kernel kernel = kernel_elsewhere(*given->op, flags.numerics);
  Record r = of_file(flags.inputs, [&] { return judge_given(given, kernel, {nullptr, flags.suggest ? &suggested : nullptr}); });
  require_unchanged_files();
  return r;
}

}  // namespace

std::vector<Task> given_tasks(const RunFlags& flags) {
  const Selection& s = flags.selection;
  if (s.ops.size() > 1) throw BadInput("--op: the tensors of --inputs are of one op");
  GivenFlags unsaid = flags.given;
  unsaid.op = s.ops.empty() ? "" : s.ops[0];
  const auto given = std::make_shared<Given>(given_in(flags.inputs, unsaid));
  require_flags_used(unsaid, given->names);
  of_file(flags.inputs, [&] { return problem_of(*given); });
  given->flags = flag_text("--inputs", flags.inputs) + unsaid_text(unsaid);
  require_kernels(s, {given->op});
  Task task{given->op, given->c, {}, given};
  for (const Kernel& k : kernels())
    if (k.op == given->op->name && !k.broken && asked(s, k, task.c.dtype)) task.kernels.push_back(&k);
  if (task.kernels.empty()) return {};
  return {task};
}

int inputs_command(const std::string& line, const std::string& path) {
  require_tensors_writable(path);
  const TensorFile file = filled(line);
  const Given given = given_case(file, {});
  problem_of(given);  // throws if the contract does not allow the case
  write_tensors(path, file);
  fmt::print("{}\n", file.metadata.at(kCaseKey));
  print_written(path, file);
  const std::vector<Placement> placements = places_of(given);
  bool first = true;
  for (std::size_t i = 0; i < placements.size(); ++i) {
    const Tensor& t = placements[i].tensor;
    if (given.op->tensors[i].role != Role::output || t.rank == 0) continue;
    print_tensor(first ? "to be computed" : "", given.op->tensors[i].name, name(t.dtype),
                 std::span(t.shape).first(static_cast<std::size_t>(t.rank)));
    first = false;
  }
  return kAllPassed;
}

int golden_command(const std::string& line, const FileFlags& flags) {
  require_tensors_writable(flags.outputs);
  const Given given = flags.inputs.empty() ? given_case(filled(line), {}) : given_in(flags.inputs, flags.given);
  require_flags_used(flags.given, given.names);
  TensorFile file;
  {
    const Doing doing("computing the golden");
    file = of_file(flags.inputs.empty() ? line : flags.inputs, [&] { return golden_tensors(given, flags.unrounded); });
    require_unchanged_files();
  }
  write_tensors(flags.outputs, file);
  fmt::print("{}\n", repro(given.c, given.op->shape()));
  print_written(flags.outputs, file);
  return kAllPassed;
}

int judge_command(const FileFlags& flags) {
  if (!flags.numerics.empty() && flags.numerics.find_first_not_of(' ') == flags.numerics.npos)
    throw BadInput("--numerics declares nothing");
  numerics_from(flags.numerics);  // Note: before any file is read, so of no op
  if (!flags.json.empty() && flags.json != kStdout) require_writable(flags.json);
  const auto given = std::make_shared<const Given>(both_given(flags));
  const Stopwatch judging;
  Suggested suggested;
  Record r = judged(flags, given, suggested);
  r.given = fmt::format("judge {} {}{}", shell_word(flags.inputs), shell_word(flags.outputs), unsaid_text(flags.given));
  if (!flags.numerics.empty()) r.given += " " + flag_text("--numerics", flags.numerics);
  Tally tally;
  tally.add(r);
  tally.seconds = judging.seconds();
  write_records(flags, r, suggested.lines(), tally);
  fmt::print("{}\n", repro(r.c, op_named(r.c.op).shape()));
  print_judged(r, colours(flags.colour, STDOUT_FILENO));
  for (const SuggestedLine& line : suggested.lines()) fmt::print("  suggested      {}\n", text_of(line));
  const bool unused = !given->unused.empty();
  if (unused)
    fmt::print("  NOT USED       {}: {} has no such names\n", plain(fmt::format("{}", fmt::join(given->unused, ", "))), r.c.op);
  fmt::print("\n{}\n", tally.sentence());
  const bool shows_nothing = r.verdict == Verdict::passed && !r.reason.empty();
  if (shows_nothing) fmt::print("nothing was shown: {} (exit code 3)\n", r.reason);
  const int code = exit_code(tally, false);
  return code == kAllPassed && (shows_nothing || (unused && flags.strict)) ? kIncomplete : code;
}

}  // namespace assay
