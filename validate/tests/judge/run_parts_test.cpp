// SPDX-License-Identifier: Apache-2.0
// Parts of a run of the judge: jobs that are left, records that become known in any order.
#include <future>
#include <memory>
#include <vector>

#include "catch_shim.hpp"
#include "validate/judge/run/jobs.hpp"
#include "validate/judge/run/records_in_order.hpp"

namespace assay {
namespace {

// Tells when it is freed.
struct Told {
  std::promise<void> freed;
  ~Told() { freed.set_value(); }
};

// Two tasks of three kernels, whose records are named by their seeds and kernels.
struct ThreeKernels {
  std::vector<Kernel> kernels{std::vector<Kernel>(3)};
  std::vector<Task> tasks;
  std::vector<std::string> handed_on;
  std::function<void(const Record&)> hand_on = [this](const Record& r) {
    handed_on.push_back(fmt::format("{}{} {}", r.c.seed, r.kernel, name(r.verdict)));
  };
  ThreeKernels() {
    const char* names[] = {"a", "b", "c"};
    for (std::size_t k = 0; k < 3; ++k) kernels[k].name = names[k];
    for (const std::uint64_t seed : {1, 2}) {
      Task t{.op = find_op("softmax"), .c = {}, .kernels = {&kernels[0], &kernels[1], &kernels[2]}};
      t.c.op = "softmax";
      t.c.seed = seed;
      tasks.push_back(t);
    }
  }
  Record record(std::size_t number, Verdict verdict = Verdict::passed) const {
    Record r;
    r.kernel = kernels[number % 3].name;
    r.c = tasks[number / 3].c;
    r.verdict = verdict;
    return r;
  }
};

}  // namespace

TEST_CASE("run: a job that the pool leaves goes on alone, and frees what it owns when it ends; one that waits is dropped",
          "[process]") {
  const bool before = jobs_left_running;
  auto running = std::make_shared<Told>(), waiting = std::make_shared<Told>();
  std::future<void> running_freed = running->freed.get_future(), waiting_freed = waiting->freed.get_future();
  std::promise<void> began, go_on;
  std::future<int> made;
  {
    ThreadPool pool(1);
    made = pool.post([owned = std::move(running), &began, go = go_on.get_future().share()] {
      began.set_value();
      go.wait();
      return 7;
    });
    pool.post([owned = std::move(waiting)] { return 0; });
    began.get_future().wait();
    jobs_left_running = false;
    pool.leave();
    CHECK(jobs_left_running);
  }  // does not wait for the job
  CHECK(ready(waiting_freed));
  CHECK_FALSE(ready(running_freed));
  go_on.set_value();
  CHECK(made.get() == 7);
  made = {};
  running_freed.wait();
  jobs_left_running = before;
}

TEST_CASE("run: a pool whose jobs have ended leaves none running, and one that ends waits for its jobs", "[process]") {
  const bool before = jobs_left_running;
  jobs_left_running = false;
  bool ended = false;
  {
    ThreadPool pool(2);
    std::promise<void> began;
    pool.post([&] {
      began.set_value();
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      ended = true;
      return 0;
    });
    began.get_future().wait();
  }
  CHECK(ended);
  {
    ThreadPool pool(1);
    pool.leave();
  }
  CHECK_FALSE(jobs_left_running);
  jobs_left_running = before;
}

TEST_CASE("run: records are handed on in the tasks' order, whichever is known first", "[process]") {
  ThreeKernels of;
  const Terms terms{JudgeOptions{}};
  RecordsInOrder records(of.tasks, terms, of.hand_on);
  records.emit(1, of.record(1));
  records.skip(2, "why", true);
  CHECK(of.handed_on.empty());
  records.emit(0, of.record(0, Verdict::failed));
  CHECK(of.handed_on == std::vector<std::string>{"1a failed", "1b passed", "1c skipped"});
  CHECK_FALSE(records.failed_fast());
  records.skip(of.tasks[1], 3, "why", false);
  CHECK(of.handed_on.size() == 6);
  CHECK(of.handed_on.back() == "2c skipped");
  CHECK(records.finished());
  const Tally tally = records.tally();
  CHECK((tally.total == 6 && tally.count(Verdict::failed) == 1 && tally.count(Verdict::skipped) == 4));
  CHECK(tally.incomplete == 1);
}

TEST_CASE("run: with fail_fast nothing is handed on after the first bad record, known or not", "[process]") {
  ThreeKernels of;
  JudgeOptions options;
  options.fail_fast = true;
  const Terms terms(options);
  RecordsInOrder records(of.tasks, terms, of.hand_on);
  records.emit(2, of.record(2));
  records.emit(1, of.record(1, Verdict::crashed));
  CHECK_FALSE(records.failed_fast());
  records.emit(0, of.record(0));
  CHECK(records.failed_fast());
  CHECK(of.handed_on == std::vector<std::string>{"1a passed", "1b crashed"});
  CHECK_FALSE(records.finished());
}

}  // namespace assay
