//! Collects files and analyses them in batches.

use std::mem;

use hashbrown::HashSet;
use rayon::prelude::*;

use super::super::error::IndexError;
use super::super::limits::{
    BATCH_BYTES, FILE_BYTES_MAX, FILES_MAX, PATH_BYTES_MAX, TEXT_BYTES_MAX,
};
use super::super::lines::line_count;
use super::super::model::{BuiltIndex, SourceFile};
use super::analysis::analyse;
use super::assembly::Assembly;
use super::outline_check::check_outline;

/// Collects the files of an index.
#[derive(Debug, Default)]
pub struct IndexBuilder {
    paths: HashSet<String>,
    text_bytes: usize,
    /// Files that are not analysed yet, and the bytes of their texts.
    batch: Vec<SourceFile>,
    batch_bytes: usize,
    assembly: Assembly,
}

impl IndexBuilder {
    /// Returns a builder without files.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a file. After an error the builder is as before and can be used further. Now and then
    /// it analyses what was added, on all cores, which takes some tenths of a second.
    pub fn add(&mut self, file: SourceFile) -> Result<(), IndexError> {
        let bytes = file.text.len();
        let checks = [
            ("files", self.paths.len() + 1, FILES_MAX),
            ("bytes in a path", file.path.len(), PATH_BYTES_MAX),
            ("bytes in a file", bytes, FILE_BYTES_MAX),
            ("bytes", self.text_bytes + bytes, TEXT_BYTES_MAX),
        ];
        for (what, count, max) in checks {
            if count > max {
                return Err(IndexError::LimitReached { what, max: max as u64 });
            }
        }
        if self.paths.contains(&file.path) {
            return Err(IndexError::DuplicatePath { path: file.path });
        }
        check_outline(&file.path, &file.outline, line_count(&file.text))?;
        self.paths.insert(file.path.clone());
        self.text_bytes += bytes;
        self.batch_bytes += bytes;
        self.batch.push(file);
        if self.batch_bytes >= BATCH_BYTES {
            self.analyse_batch();
        }
        Ok(())
    }

    /// Builds the index of all files that were added.
    pub fn finish(mut self) -> Result<BuiltIndex, IndexError> {
        self.analyse_batch();
        drop(mem::take(&mut self.paths));
        self.assembly.finish()
    }

    fn analyse_batch(&mut self) {
        self.batch_bytes = 0;
        let batch = mem::take(&mut self.batch);
        let analysed: Vec<_> = batch.into_par_iter().map(analyse).collect();
        for file in analysed {
            self.assembly.add(file);
        }
    }
}
