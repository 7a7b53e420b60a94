// tenant_list - the tenants of a queue, the limits of each, and the reason that holds it back now.
#pragma once

// System.
#include <string>
// fq, this room.
#include "cli/session/session.h"

namespace fq::cli {

/// Those that have messages or were set at run time; `below`: only this one and all below it ("": all).
/// `names_only`: a line each, as they are. Exit::nothing when there is none.
Result<Exit> list_tenants(Session& session, const std::string& below, bool names_only);

}  // namespace fq::cli
