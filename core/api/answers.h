// answers - one answer for each question, in order: a single one lies in the reply itself, more of them in
// memory of their own. So a caller that asks one by one, as most do, has no memory taken for each reply.
#pragma once

// System.
#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <vector>

namespace fq {

template <class T>
class Answers {
 public:
  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T* data() { return size_ > 1 ? many_.data() : &one_; }
  const T* data() const { return size_ > 1 ? many_.data() : &one_; }
  T* begin() { return data(); }
  T* end() { return data() + size_; }
  const T* begin() const { return data(); }
  const T* end() const { return data() + size_; }
  T& operator[](size_t i) { return data()[i]; }
  const T& operator[](size_t i) const { return data()[i]; }
  const T& at(size_t i) const {
    if (i >= size_) throw std::out_of_range("there are fewer answers");
    return data()[i];
  }
  const T& back() const { return at(size_ - 1); }

  /// Room for so many.
  void reserve(size_t count) {
    if (count > 1) many_.reserve(count);
  }
  void assign(size_t count, const T& answer) {
    one_ = answer;
    size_ = count;
    if (count > 1) many_.assign(count, answer);
  }
  void push_back(const T& answer) {
    if (size_ == 1) many_.assign(1, one_);
    if (size_ == 0) {
      one_ = answer;
    } else {
      many_.push_back(answer);
    }
    ++size_;
  }
  bool operator==(const Answers& other) const {
    return std::equal(begin(), end(), other.begin(), other.end());
  }

 private:
  size_t size_ = 0;
  T one_{};  // of one
  std::vector<T> many_;
};

}  // namespace fq
