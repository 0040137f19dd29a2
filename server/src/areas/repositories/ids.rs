//! The ids of the area's resources, one type each.

use crate::areas::ulid_ids::{document_ids, ulid_ids};

ulid_ids! {
    /// The id of a repository: `repo_` and a ULID.
    RepositoryId, "repo_", "repository_not_found", "repository";
    /// The id of a sync: `sync_` and a ULID.
    SyncId, "sync_", "sync_not_found", "sync";
    /// The id of a chat session: `session_` and a ULID.
    SessionId, "session_", "session_not_found", "chat session";
}

document_ids!(RepositoryId, SyncId, SessionId);
