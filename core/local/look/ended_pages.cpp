#include "core/local/look/ended_pages.h"

// System.
#include <algorithm>
#include <iterator>

namespace fq {

namespace {

bool ended_later(const MessageInfo& a, const MessageInfo& b) {
  return a.ended_at_wall_ms != b.ended_at_wall_ms ? a.ended_at_wall_ms > b.ended_at_wall_ms : a.id > b.id;
}

}  // namespace

Result<MessagePage> EndedPages::page(const Filter& filter, const Cursor& from, size_t n) {
  MessagePage dead, gone;
  if (filter.state.value_or(State::dead) == State::dead) {
    Filter only_dead = filter;
    only_dead.state = State::dead;
    FQ_TRY_SET(dead, viewer_.dead(only_dead, from, n));
  }
  if (filter.state != State::dead) {
    FQ_TRY_SET(gone, ended_.page(filter, from, n));
  }
  MessagePage page;
  std::merge(std::move_iterator(dead.messages.begin()), std::move_iterator(dead.messages.end()),
             std::move_iterator(gone.messages.begin()), std::move_iterator(gone.messages.end()),
             std::back_inserter(page.messages), ended_later);
  const bool more = page.messages.size() > n || !dead.next.text.empty() || !gone.next.text.empty();
  if (page.messages.size() > n) page.messages.resize(n);
  if (more && !page.messages.empty()) {
    const MessageInfo& last = page.messages.back();
    page.next.text = std::to_string(*last.ended_at_wall_ms) + "." + std::to_string(number(last.id));
  }
  return page;
}

}  // namespace fq
