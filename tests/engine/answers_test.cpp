// answers_test - as a vector, however many there are.
#include "core/api/answers.h"

// System.
#include <utility>
// Tests.
#include "tests/catch.h"

namespace fq {

TEST_CASE("answers are what was put in, in its order") {
  for (const size_t count : {size_t{0}, size_t{1}, size_t{2}, size_t{3}, size_t{1000}}) {
    INFO(count);
    Answers<int> answers;
    answers.reserve(count);
    std::vector<int> model;
    for (size_t i = 0; i < count; ++i) {
      answers.push_back(static_cast<int>(i) + 7);
      model.push_back(static_cast<int>(i) + 7);
    }
    const Answers<int> copy = answers;
    const Answers<int> moved = std::move(answers);
    for (const Answers<int>* each : {&copy, &moved}) {
      CHECK(each->size() == count);
      CHECK(each->empty() == (count == 0));
      CHECK(std::vector<int>(each->begin(), each->end()) == model);
      CHECK_THROWS(each->at(count));
      if (count != 0) CHECK(each->back() == model.back());
    }
    CHECK(copy == moved);
  }
}

TEST_CASE("answers are set all at once, whatever there was") {
  Answers<int> answers;
  for (const size_t count : {size_t{3}, size_t{1}, size_t{0}, size_t{2}}) {
    answers.assign(count, static_cast<int>(count));
    CHECK(std::vector<int>(answers.begin(), answers.end()) ==
          std::vector<int>(count, static_cast<int>(count)));
    answers.push_back(9);
    CHECK(answers.size() == count + 1);
    CHECK(answers.back() == 9);
    if (count != 0) CHECK(answers[0] == static_cast<int>(count));
  }
}

}  // namespace fq
