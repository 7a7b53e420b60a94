// item_view - what a message's record says of it, as the door tells it.
#pragma once

// fq, below us.
#include "core/api/queue.h"
#include "core/journal/record.h"

namespace fq {

/// All but its payload. What `info` says besides stays.
void describe_item(const MessageItem& item, MessageInfo& info);
/// What its tags and its terms say to who is to run it.
void describe_delivery(const MessageItem& item, Delivery& delivery);

}  // namespace fq
