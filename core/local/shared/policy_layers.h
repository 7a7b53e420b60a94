// policy_layers - the layers of a queue's own policy: defaults, the policy file, and the values set at run
// time.
//
// The layers are kept apart in the segment, so that a value set at run time can be taken back; the values
// that hold are put together whenever a layer changes. The values of tenants lie with them
// (core/schedule/rings/control.h).
#pragma once

// fq, this room.
#include "core/local/shared/layout.h"

namespace fq {

Settings settings_of(const SharedSettings& shared);
void store_settings(Txn& txn, SharedSettings& shared, const Settings& settings);

/// The file's layer is this from now on.
void store_file_layer(Txn& txn, SegmentHeader& header, const Settings& file);
void patch_run_time_layer(Txn& txn, SegmentHeader& header, const PolicyPatch& patch);
/// The values set at run time that are not of a node.
PolicyValues run_time_values(const SegmentHeader& header);

FileIdentity policy_file_of(const SharedPolicy& policy);
void store_policy_file(Txn& txn, SharedPolicy& policy, const FileIdentity& file);

}  // namespace fq
