//! The newest events, in memory: a tail that grows and chunks that do not change any more.

use std::sync::Arc;

use super::Chunk;
use crate::model::EventRows;

/// A tail of this many rows becomes a chunk. While a reader holds the tail, the next write copies it: so it must be small.
const CHUNK_ROWS: usize = 8_192;

/// Events of one stretch of the log.
#[derive(Debug, Default)]
pub(super) struct Head {
    chunks: Vec<Chunk>,
    tail: Arc<EventRows>,
    /// Rows and bytes of the chunks.
    rows: u64,
    bytes: usize,
}

/// The rows of a head at one instant.
#[derive(Clone, Debug, Default)]
pub(super) struct HeadRows {
    pub(super) chunks: Vec<Chunk>,
    pub(super) tail: Arc<EventRows>,
}

impl Head {
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
    /// All rows, in several pieces.
    pub(super) fn pieces(&self) -> impl Iterator<Item = &EventRows> {
        let chunks = self.chunks.iter().map(Chunk::columns);
        chunks.chain(std::iter::once(&*self.tail)).filter(|rows| rows.len() > 0)
    }
}
