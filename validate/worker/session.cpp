// SPDX-License-Identifier: Apache-2.0
#include "validate/worker/session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>

#include "validate/base/error.hpp"
#include "validate/base/memory.hpp"
#include "validate/worker/guarded_buffer.hpp"
#include "validate/worker/plugin.hpp"

namespace assay {

namespace {

// The kernel stored without st(), where the watch cannot see it.
struct NotWatchable : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class Session {
 public:
  Session(Backend& backend, const Op& op, const Kernel& kernel, const Order& order, const SharedMemory& inputs,
          const SharedMemory& outputs)
      : backend_(backend), op_(op), kernel_(kernel), order_(order), inputs_(inputs), outputs_(outputs) {}

  Reply run() {
    try {
      return run_all();
    } catch (const NotWatchable& why) {
      return stopped(Reply::Status::unsupported, fmt::format("{}: {}", kNotWatchable, why.what()));
    } catch (const CannotRun& why) {
      return stopped(Reply::Status::skipped, why.what());
    } catch (const NoMemory& why) {
      return no_memory(why.what());
    } catch (const std::bad_alloc&) {
      if (in_kernel_) throw;
      return no_memory("a worker has no more memory");
    }
  }

 private:
  Reply run_all() {
    Reply reply{.id = order_.id};
    launcher_ = backend_.launcher(kernel_);
    if (!launcher_) return stopped(Reply::Status::skipped, fmt::format("not built for backend {}", backend_.name()));
    if (!kernel_.dtypes.has(order_.dtype))
      return stopped(Reply::Status::unsupported, fmt::format("declares no {}", name(order_.dtype)));
    if (const std::string needed = needs_arch(kernel_, backend_.arch()); !needed.empty())
      return stopped(Reply::Status::skipped, fmt::format("needs {}, this is sm_{}", needed, backend_.arch()));
    if (const Legality ok = kernel_.available(); !ok) return stopped(Reply::Status::skipped, ok.why);

    if (std::string why = too_far_apart(); !why.empty()) return stopped(Reply::Status::skipped, std::move(why));
    lay_out();
    if (const Legality ok = kernel_.supports(args()); !ok) return stopped(Reply::Status::unsupported, ok.why);
    if (const std::size_t bytes = kernel_.workspace_bytes(args())) {
      reply.workspace = bytes;
      const double needed = 1.25 * static_cast<double>(bytes), available = static_cast<double>(available_memory());
      if (!backend_.memory_free() && needed > available)  // in the host's memory, with the maps of simt
        throw NoMemory(fmt::format("needs about {} of memory for its workspace and {} are free here", size_text(needed),
                                   size_text(available)));
      workspace_ = std::make_unique<GuardedBuffer>(backend_, bytes, 0, "workspace");
    }

    if (kernel_.numerics.of_output) reply.steps = numerics_of_steps();
    if (kernel_.rests_on) kernel_.rests_on(kernel_);  // forgets what ran for earlier orders
    for (std::size_t k = 0; k < order_.runs.size(); ++k) {
      const auto start = std::chrono::steady_clock::now();
      if (!launch(order_.runs[k], k)) break;
      reply.ran = k + 1;
      if (k == 0) {
        reply.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
        for (const auto& b : buffers_) reply.traffic[b->label()] = backend_.traffic(b->allocation());
        if (workspace_) reply.traffic["workspace"] = backend_.traffic(workspace_->allocation());
        std::erase_if(reply.traffic, [](const auto& t) { return !t.second.read_bytes && !t.second.written_bytes; });
        reply.sites = backend_.sites();
      }
    }
    if (kernel_.rests_on) reply.fidelity = kernel_.rests_on(kernel_);
    return reply;
  }
  // By output; an absent one has the usual numerics.
  std::vector<Numerics> numerics_of_steps() {
    std::vector<Numerics> all;
    for (std::size_t i = 0; i < op_.tensors.size(); ++i) {
      if (!is_output(i)) continue;
      const bool absent = order_.tensors[i].place.tensor.rank == 0;
      all.push_back(absent ? Numerics{} : kernel_.numerics.of_output(args(), static_cast<int>(all.size())));
    }
    return all;
  }
  Reply stopped(Reply::Status status, std::string why) const {
    return {.id = order_.id, .status = status, .message = std::move(why)};
  }
  Reply no_memory(const std::string& why) const {
    Reply reply = stopped(Reply::Status::skipped, std::string(kMachine) + why);
    reply.tainted = true;
    return reply;
  }
  bool is_output(std::size_t i) const { return order_.tensors[i].role == Role::output; }
  bool given(std::size_t i) const { return order_.tensors[i].input.has_value(); }
  // The image that the judge made for an input or an updated output, in the current set.
  const std::byte* values(std::size_t i) const { return inputs_.data() + set_ * order_.input_bytes + *order_.tensors[i].input; }
  // What the kernel's functions take.
  const void* args() const { return call_ ? static_cast<const void*>(call_.get()) : problem_->args(); }
  void* work() const { return workspace_ ? workspace_->data() : nullptr; }

  // Why tensors whose rows lie far apart cannot be placed here; empty if they can, or there are none.
  std::string too_far_apart() {
    std::size_t bytes = 0;
    bool far = false;
    for (const OrderTensor& t : order_.tensors) {
      bytes += t.place.bytes;
      far = far || islands(t.place.tensor, t.place.bytes).size() > 1;
    }
    if (!far) return {};
    if (order_.runs[0].how.watch) return "rows lie 2^31 elements apart, which the watch does not take";
    if (const auto free = backend_.memory_free(); free && bytes > *free)
      return fmt::format("rows lie 2^31 elements apart: needs {} MiB of device memory and {} MiB are free", bytes >> 20,
                         *free >> 20);
    return {};
  }
  void lay_out() {
    if (order_.tensors.size() != op_.tensors.size()) throw std::runtime_error("the order's tensors are not those of the op");
    problem_ = op_.make();
    for (std::size_t i = 0; i < order_.tensors.size(); ++i) {
      const OrderTensor& t = order_.tensors[i];
      if (t.name != op_.tensors[i].name) throw std::runtime_error(fmt::format("the op has no tensor '{}' there", t.name));
      if (t.over) buffers_.push_back(buffers_[*t.over]);
      else
        buffers_.push_back(std::make_shared<GuardedBuffer>(backend_, t.place.bytes, t.place.offset, t.name,
                                                           islands(t.place.tensor, t.place.bytes)));
      if (given(i)) buffers_[i]->write(values(i));
      Tensor& tensor = *problem_->tensors()[i];
      tensor = t.place.tensor;
      tensor.data = tensor.rank ? buffers_[i]->data() : nullptr;
    }
    const OpShape shape = op_.shape();
    for (const auto& [name, value] : order_.attributes) {
      const Attribute* attribute = find_attribute(shape, name);
      if (!attribute) throw std::runtime_error(fmt::format("the op has no attribute '{}'", name));
      const auto* word = std::get_if<std::string>(&value);
      problem_->set_attribute(name, word ? value_of(*attribute, *word) : std::get<double>(value));
    }
    if (kernel_.plugin)
      call_ = std::make_unique<PluginCall>(op_, kernel_, order_, problem_->tensors(), backend_.name() == "cuda" ? 2 : 1);
  }

  // Fills outputs with garbage.  Writes an updated output's initial values, and into an in-place output those of its input.
  void reset_outputs(std::byte garbage) {
    for (std::size_t i = 0; i < buffers_.size(); ++i) {
      if (!is_output(i)) continue;
      const auto& over = order_.tensors[i].over;
      if (over || given(i)) buffers_[i]->write(values(over ? *over : i));
      else buffers_[i]->fill(garbage);
    }
  }
  void reset_workspace() {
    if (workspace_) workspace_->fill(std::byte{0xff});
  }
  // Writes parts of most rows of run `number`'s outputs back into the outputs, and garbage elsewhere: by turns the ends, all but
  // one element in 16, the first half, nothing.  A kernel that trusts what it finds there then gives a wrong answer.
  void keep_part(std::size_t number, std::byte garbage) {
    constexpr std::size_t kMostBytes = std::size_t{1} << 26;  // of an image, which is built in the worker's memory
    for (std::size_t i = 0; i < buffers_.size(); ++i) {
      const OrderTensor& t = order_.tensors[i];
      const Tensor& y = t.place.tensor;
      if (!is_output(i) || t.over || given(i) || y.rank == 0 || y.size() == 0 || t.place.bytes > kMostBytes) continue;
      const std::int64_t length = y.shape[y.rank - 1];
      const std::int64_t few = std::min<std::int64_t>(4, length / 3), size = size_of(y.dtype);
      const std::byte* const from = outputs_.data() + number * order_.output_bytes + *t.output;
      std::vector<std::byte> image(t.place.bytes, garbage);
      const auto keep = [&](std::int64_t first, std::int64_t count) {
        std::memcpy(image.data() + y.offset(first) * size, from + y.offset(first) * size, static_cast<std::size_t>(count * size));
      };
      for (std::int64_t row = 0; row < y.size() / length; ++row) switch ((row + length) % 4) {
          case 0:
            keep(row * length, few);
            keep((row + 1) * length - few, few);
            break;
          case 1:
            keep(row * length, length);
            for (std::int64_t k = row / 4 * 5 % 16; k < length; k += 16)
              std::fill_n(image.data() + y.offset(row * length + k) * size, size, garbage);
            break;
          case 2: keep(row * length, length / 2); break;
          default: break;
        }
      buffers_[i]->write(image.data());
    }
  }
  // Writes a set of inputs, unless the buffers hold it already.
  void change_inputs(std::size_t set) {
    if (std::exchange(set_, set) == set) return;
    for (std::size_t i = 0; i < buffers_.size(); ++i)
      if (!is_output(i)) buffers_[i]->write(values(i));
  }

  // Note: what a kernel allocates is its own affair, what the session allocates is the machine's.
  void run_kernel(const RunOptions& how) {
    in_kernel_ = true;
    backend_.run(launcher_, args(), work(), how);
    in_kernel_ = false;
  }

  // Makes one run and copies its outputs for the judge.  Returns false if it should be replayed and the backend cannot capture.
  bool launch(const OrderRun& run, std::size_t number) {
    const auto begin = [&] {
      reset_workspace();
      if (run.after) {
        change_inputs(*run.after);
        for (std::size_t k = 0; k < run.calls; ++k) {
          reset_outputs(run.garbage);
          run_kernel(run.how);
        }
      }
      change_inputs(run.inputs);
      reset_outputs(run.garbage);
      if (run.keeps && number > 0) keep_part(number - 1, run.garbage);
    };
    try {
      if (!run.replayed) {
        begin();
        run_kernel(run.how);
      } else if (!backend_.run_captured(launcher_, args(), work(), begin)) return false;
    } catch (const BackendFinding& f) {
      // Note: memory that was stored to without st() counts as uninitialised, too.  That makes a kernel unwatchable, not wrong.
      if (run.how.watch && f.kind == "uninitialised") check_watched(run.garbage);
      throw;
    }
    if (run.how.watch) check_watched(run.garbage);
    for (std::size_t i = 0; i < buffers_.size(); ++i)
      if (is_output(i)) buffers_[i]->read_checked(outputs_.data() + number * order_.output_bytes + *order_.tensors[i].output);
    check_inputs();
    if (run.how.watch) check_written();
    return true;
  }

  // Throws NotWatchable if an output or the workspace has changed where the watch saw no store.
  void check_watched(std::byte garbage) const {
    std::vector<std::byte> seen;
    const auto check = [&](const GuardedBuffer& buffer, std::size_t bytes, std::byte was, std::string_view name) {
      seen.resize(bytes);
      backend_.read(seen.data(), buffer.data(), bytes);
      for (std::size_t at = 0; at < bytes; ++at)
        if (seen[at] != was && backend_.first_unwritten(buffer.data() + at, 1) == 0)
          throw NotWatchable(fmt::format("{} was written without st()", name));
    };
    for (std::size_t i = 0; i < buffers_.size(); ++i)
      if (is_output(i) && !given(i) && !order_.tensors[i].over)
        check(*buffers_[i], order_.tensors[i].place.bytes, garbage, order_.tensors[i].name);
    if (workspace_) check(*workspace_, kernel_.workspace_bytes(args()), std::byte{0xff}, "the workspace");
  }

  // Throws SideEffect if the launch left an output element unwritten.  Updated and in-place outputs are exempt, since what they
  // hold at the launch may be right: rope in place need not store a channel that it does not rotate.
  void check_written() {
    for (std::size_t i = 0; i < buffers_.size(); ++i) {
      if (!is_output(i) || given(i) || order_.tensors[i].over) continue;
      const Tensor& t = order_.tensors[i].place.tensor;
      const std::int64_t element = size_of(t.dtype);
      for (std::int64_t e = 0; e < t.size(); ++e)
        if (backend_.first_unwritten(buffers_[i]->data() + t.offset(e) * element, static_cast<std::size_t>(element)) == 0)
          throw SideEffect(
              fmt::format("unwritten: element {} of {} of '{}' was not written", e, t.size(), order_.tensors[i].name));
    }
  }

  // Throws SideEffect if the launch wrote to an input, unless an output shares its memory, or to a guard of an input or of the
  // workspace.  An input that was put back shows where the machine tracks writes.
  void check_inputs() {
    for (std::size_t i = 0; i < buffers_.size(); ++i) {
      if (is_output(i)) continue;
      const bool may_change =
          std::any_of(order_.tensors.begin(), order_.tensors.end(), [&](const OrderTensor& t) { return t.over == i; });
      if (!may_change && changed(i)) throw SideEffect(fmt::format("changed its input '{}'", order_.tensors[i].name));
      if (!may_change && backend_.written(buffers_[i]->allocation()))
        throw SideEffect(fmt::format("wrote to its input '{}', which has its values again", order_.tensors[i].name));
    }
    if (workspace_) workspace_->check();
  }
  bool changed(std::size_t input) const {
    const GuardedBuffer& buffer = *buffers_[input];
    std::vector<std::byte> seen;
    if (buffer.islands().size() == 1) {
      seen.resize(order_.tensors[input].place.bytes);
      buffer.read_checked(seen.data());
      return !seen.empty() && std::memcmp(seen.data(), values(input), seen.size()) != 0;
    }
    buffer.check();
    for (const Island& i : buffer.islands()) {
      seen.resize(i.bytes());
      backend_.read(seen.data(), buffer.data() + i.begin, i.bytes());
      if (std::memcmp(seen.data(), values(input) + i.begin, i.bytes()) != 0) return true;
    }
    return false;
  }

  Backend& backend_;
  const Op& op_;
  const Kernel& kernel_;
  const Order& order_;
  const SharedMemory& inputs_;
  const SharedMemory& outputs_;
  Launcher launcher_ = nullptr;
  bool in_kernel_ = false;
  std::size_t set_ = 0;                                  // index of the set of inputs that the buffers hold
  std::vector<std::shared_ptr<GuardedBuffer>> buffers_;  // by tensor; an in-place output shares its input's
  std::unique_ptr<Problem> problem_;
  std::unique_ptr<PluginCall> call_;  // only of a plugin's kernel
  std::unique_ptr<GuardedBuffer> workspace_;
};

}  // namespace

Reply run_order(Backend& backend, const Op& op, const Kernel& kernel, const Order& order, const SharedMemory& inputs,
                const SharedMemory& outputs) {
  return Session(backend, op, kernel, order, inputs, outputs).run();
}

}  // namespace assay
