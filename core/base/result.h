// result - a value or an Error.
//
// FQ_TRY passes an error up; FQ_TRY_SET also keeps the value:
//   FQ_TRY(journal.sync());
//   FQ_TRY_SET(auto file, disk.open(path));
#pragma once

// System.
#include <memory>
#include <optional>
#include <utility>
// fq, this room.
#include "core/base/assert.h"
#include "core/base/error.h"

namespace fq {

/// Apart: success, which is passed up through many hands, costs a word.
using HeldError = std::unique_ptr<Error, ErrorDeleter>;

template <class T>
class [[nodiscard]] Result {
 public:
  Result(const T& value) : value_(std::in_place, value) {}
  Result(T&& value) : value_(std::in_place, std::move(value)) {}
  Result(Error error) : error_(new Error(std::move(error))) {}

  bool ok() const { return error_ == nullptr; }
  explicit operator bool() const { return ok(); }

  /// Needs: ok().
  T& value() & { return check_ok(), *value_; }
  const T& value() const& { return check_ok(), *value_; }
  T&& value() && { return check_ok(), *std::move(value_); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  /// Needs: !ok().
  const Error& error() const& { return *error_; }
  Error&& error() && { return std::move(*error_); }

 private:
  void check_ok() const { FQ_ASSERT(ok()); }
  std::optional<T> value_;  // none: there is an error
  HeldError error_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(new Error(std::move(error))) {}

  bool ok() const { return error_ == nullptr; }
  explicit operator bool() const { return ok(); }
  /// Needs: !ok().
  const Error& error() const& { return *error_; }
  Error&& error() && { return std::move(*error_); }

 private:
  HeldError error_;
};

}  // namespace fq

#define FQ_CONCAT_(a, b) a##b
#define FQ_CONCAT(a, b) FQ_CONCAT_(a, b)

#define FQ_TRY(expression)                                  \
  do {                                                      \
    auto fq_tried = (expression);                           \
    if (!fq_tried.ok()) return std::move(fq_tried).error(); \
  } while (false)

#define FQ_TRY_SET_(name, target, expression)     \
  auto name = (expression);                       \
  if (!name.ok()) return std::move(name).error(); \
  target = std::move(name).value()
#define FQ_TRY_SET(target, expression) FQ_TRY_SET_(FQ_CONCAT(fq_tried_, __LINE__), target, expression)
