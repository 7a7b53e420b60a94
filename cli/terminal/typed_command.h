// typed_command - a command of fq as a hint names it, to be typed as it stands.
#pragma once

// System.
#include <string>

namespace fq::cli {

/// "fq result -f 17 -q mail": without the queue where the command takes that one by itself.
std::string typed_command(std::string command, const std::string& queue);

}  // namespace fq::cli
