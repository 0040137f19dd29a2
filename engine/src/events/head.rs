//! The newest events, in memory: immutable chunks and a growing tail.

use std::sync::Arc;

use super::Chunk;
use crate::model::EventRows;

/// The tail becomes a chunk at this many rows. A write copies the tail if a reader holds it, so the
/// tail must stay small.
const CHUNK_ROWS: usize = 8_192;

/// The events of one range of the log.
#[derive(Debug, Default)]
pub(super) struct Head {
    chunks: Vec<Chunk>,
    tail: Arc<EventRows>,
    /// Rows and bytes of the chunks, without the tail.
    rows: u64,
    bytes: usize,
}

/// The rows of a head at one point in time.
#[derive(Clone, Debug, Default)]
pub(super) struct HeadRows {
    pub(super) chunks: Vec<Chunk>,
    pub(super) tail: Arc<EventRows>,
}

impl Head {
    /// Appends rows. A large batch becomes a chunk of its own.
    pub(super) fn add(&mut self, rows: EventRows) {
        if rows.len() == 0 {
            return;
        }
        if rows.len() >= CHUNK_ROWS {
            self.push_chunk(Arc::new(rows));
            return;
        }
        Arc::make_mut(&mut self.tail).append(&rows);
        if self.tail.len() >= CHUNK_ROWS {
            let full = std::mem::take(&mut self.tail);
            self.push_chunk(full);
        }
    }

    fn push_chunk(&mut self, rows: Arc<EventRows>) {
        self.rows += rows.len() as u64;
        self.bytes += rows.bytes();
        self.chunks.push(Chunk::new(rows));
    }

    pub(super) fn rows(&self) -> u64 {
        self.rows + self.tail.len() as u64
    }

    pub(super) fn bytes(&self) -> usize {
        self.bytes + self.tail.bytes()
    }

    pub(super) fn snapshot(&self) -> HeadRows {
        HeadRows { chunks: self.chunks.clone(), tail: Arc::clone(&self.tail) }
    }
}

impl HeadRows {
    /// Returns all rows as non-empty pieces.
    pub(super) fn pieces(&self) -> impl Iterator<Item = &EventRows> {
        let chunks = self.chunks.iter().map(Chunk::columns);
        chunks.chain(std::iter::once(&*self.tail)).filter(|rows| rows.len() > 0)
    }
}
