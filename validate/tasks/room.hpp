// SPDX-License-Identifier: Apache-2.0
// What a run may take of a thing that the machine has little of: memory, open files.  Whoever takes some holds a share, and gives
// it back by destroying it, in any thread.
#pragma once

#include <atomic>
#include <memory>
#include <utility>

namespace assay {

class Room {
 public:
  explicit Room(double whole) : whole_(whole) {}

  class Share {
   public:
    Share() = default;
    Share(Share&& o) noexcept : taken_(std::move(o.taken_)), amount_(std::exchange(o.amount_, 0)) {}
    Share& operator=(Share&& o) noexcept {
      std::swap(taken_, o.taken_);
      std::swap(amount_, o.amount_);
      return *this;
    }
    ~Share() {
      if (taken_) *taken_ -= amount_;
    }

   private:
    friend class Room;
    Share(std::shared_ptr<std::atomic<double>> taken, double amount) : taken_(std::move(taken)), amount_(amount) {
      *taken_ += amount_;
    }
    std::shared_ptr<std::atomic<double>> taken_;
    double amount_ = 0;
  };

  Share take(double amount) { return Share(taken_, amount); }  // also more than there is
  bool has(double amount) const { return *taken_ + amount <= whole_; }
  bool untouched() const { return *taken_ == 0; }

 private:
  double whole_;
  std::shared_ptr<std::atomic<double>> taken_ = std::make_shared<std::atomic<double>>(0);
};

}  // namespace assay
