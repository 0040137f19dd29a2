//! References between resources: what else changes when one is deleted.

use super::documents::Changes;
use super::error::AlertingError;
use super::ids::{ChannelId, PolicyId};
use super::policies;

/// Removes all references to a channel, as part of `changes`. Returns the ids of the policies that
/// had one.
pub(super) fn remove_channel(
    changes: &mut Changes<'_>,
    channel: &ChannelId,
) -> Result<Vec<PolicyId>, AlertingError> {
    policies::remove_channel(changes, channel)
}
