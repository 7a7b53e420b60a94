#include "core/worker/jobs/queues.h"

// System.
#include <algorithm>

namespace fq::worker {

void Queues::open(const Books::Terms& terms, int event) {
  looks_first_ = terms.looks_first;
  for (Source& source : sources_) {
    served_.push_back({shop_,
                       std::make_unique<Books>(source, shop_.options, shop_.voice, terms, event),
                       0,
                       false,
                       false,
                       false,
                       false,
                       {}});
  }
}

size_t Queues::close(bool abandoned) {
  if (abandoned) {
    for (Served& each : served_) each.books->abandon();
  }
  for (size_t i = 0; i < size(); ++i) {
    served_[i].books->end();
    for (const std::string& notice : take_news(i).notices) shop_.say(notice);
  }
  const size_t untold = open_orders();
  tell_not_acked();
  served_.clear();
  return untold;
}

void Queues::tell_not_acked() const {
  for (size_t i = 0; i < served_.size(); ++i) {
    for (const uint64_t id : served_[i].not_acked) shop_.voice.not_acked(name(i), MessageId{id});
  }
}

bool Queues::any(bool Served::*flag) const {
  return std::any_of(served_.begin(), served_.end(), [&](const Served& each) { return each.*flag; });
}

bool Queues::all(bool Served::*flag) const {
  return std::all_of(served_.begin(), served_.end(), [&](const Served& each) { return each.*flag; });
}

size_t Queues::allowed() const {
  size_t sum = 0;
  for (const Served& each : served_) sum += each.allowed;
  return sum;
}

size_t Queues::open_orders() const {
  size_t sum = 0;
  for (const Served& each : served_) sum += each.books->open_orders();
  return sum;
}

void Queues::allow(size_t room, size_t turn) {
  const size_t share = served_.size() == 1 ? room : turn;
  for (size_t snapshot = 0; room > 0 && snapshot < served_.size(); ++snapshot) {
    Served& served = served_[next_turn_++ % served_.size()];
    // Where nobody looks first, all that is known is that something may come.
    if (!std::exchange(served.hungry, false) && looks_first_) continue;
    const size_t one = std::min(room, share);
    served.allowed += one;
    served.books->allow(one);
    room -= one;
  }
}

News Queues::take_news(size_t queue) {
  Served& served = served_[queue];
  News news = served.books->take_news();
  for (const MessageId id : news.acked) served.not_acked.erase(number(id));
  if (news.settings) served.shop.settings = *news.settings;
  served.allowed -= std::min(served.allowed, news.used + news.refused);
  if (news.servable) served.hungry = true;
  if (!news.arrivals.empty()) served.idle = false;
  if (news.idle) served.idle = true;
  if (news.nothing) served.empty = true, served.partial = news.partial;
  return news;
}

void Queues::look_idle_again() {
  for (Served& each : served_) {
    each.idle = false;
    each.books->look_idle_again();
  }
}

void Queues::send() {
  for (Served& each : served_) each.books->send();
}

void Queues::read_policy() {
  for (Served& each : served_) each.books->read_policy();
}

void Queues::take_no_more() {
  for (Served& each : served_) each.books->take_no_more();
}

void Queues::confirm_at_once() {
  for (Served& each : served_) each.books->confirm_at_once();
}

}  // namespace fq::worker
