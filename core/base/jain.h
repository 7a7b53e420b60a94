// jain - how evenly something was given: 1 where all got alike, 1/n where one of n got everything.
#pragma once

// System.
#include <optional>

namespace fq {

class Jain {
 public:
  /// What one got, in parts of what it is entitled to.
  void add(double given) {
    sum_ += given;
    squares_ += given * given;
    count_ += 1;
  }
  /// None with fewer than two, or where nothing was given.
  std::optional<double> index() const {
    if (count_ < 2 || squares_ <= 0) return std::nullopt;
    return sum_ * sum_ / (count_ * squares_);
  }

 private:
  double sum_ = 0, squares_ = 0, count_ = 0;
};

}  // namespace fq
