//! What a node reports while it runs: one JSON object per line.

use serde::{Deserialize, Serialize};

/// One thing that a node saw.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "snake_case")]
pub(crate) enum Note {
    /// It has opened the shard and may acknowledge writes from now on.
    Opened {
        writer: u64,
        epoch: u64,
        /// The last record that it found.
        lsn: u64,
        sealed: u64,
        millis: f64,
    },
    /// A client has the response: the write is durable.
    Acknowledged {
        writer: u64,
        request: u64,
        lsn: u64,
        /// The number and the revision of the document that changed with it.
        document: Option<(u64, u64)>,
    },
    /// A newer owner was noticed; the node drops the shard.
    Fenced { writer: u64 },
    /// The database refused to go on for another reason.
    Failed { writer: u64, reason: String },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_are_lines_of_json() {
        let document = Some((3, 4));
        let note = Note::Acknowledged { writer: 1, request: 2, lsn: 5, document };
        let line = serde_json::to_string(&note).unwrap();
        assert!(!line.contains('\n'));
        assert_eq!(serde_json::from_str::<Note>(&line).unwrap(), note);
    }
}
