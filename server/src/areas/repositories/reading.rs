//! The index of a repository as requests read it: a document names it, and it stays as it is until
//! the request is done. Blocks.

use std::sync::Arc;

use telltale_engine::{MemoryOwner, MemoryShare};

use super::error::RepositoryError;
use super::ids::RepositoryId;
use super::index::{FileEntry, Index, IndexError, SymbolRef};
use super::index_cache::LoadedIndex;
use super::limits;
use super::repository::{self, IndexedCommit};
use super::source::{LineRange, Symbol};
use crate::app::App;
use crate::http::{ApiError, ApiResult};
use crate::platform::fields::Invalid;

/// What is indexed of a repository.
#[derive(Debug)]
pub(super) struct IndexedRepository {
    pub(super) commit: IndexedCommit,
    loaded: Arc<LoadedIndex>,
    /// What a request takes that reads many files.
    memory: MemoryShare,
}

/// Returns what is indexed of a repository.
pub(super) fn open(app: &App, id: RepositoryId) -> Result<IndexedRepository, RepositoryError> {
    let commit = repository::get(app, id)?.value.indexed.ok_or(RepositoryError::NotSynced)?;
    let loaded = app.repositories().indexes().get(app.engine(), commit.files.index)?;
    let memory = app.engine().memory().share(MemoryOwner::Answers);
    Ok(IndexedRepository { commit, loaded, memory })
}

/// Returns what is indexed of a repository, with memory to read most of its files.
pub(super) fn open_for_many_files(
    app: &App,
    id: RepositoryId,
) -> Result<IndexedRepository, RepositoryError> {
    let mut indexed = open(app, id)?;
    let of_files = indexed.index().counts().text_bytes.saturating_mul(limits::ANSWER_MEMORY_FACTOR);
    indexed.memory.grow(of_files.min(limits::ANSWER_MEMORY_BYTES_MAX))?;
    Ok(indexed)
}

/// Runs a query that may read many files of an index. Only a few run at a time.
pub(super) async fn long_query<T: Send + 'static>(
    app: &Arc<App>,
    work: impl FnOnce(&App) -> Result<T, RepositoryError> + Send + 'static,
) -> ApiResult<T> {
    let place = app.repositories().long_read().await.map_err(ApiError::internal)?;
    app.query(move |app| {
        let outcome = work(app);
        drop(place);
        outcome
    })
    .await
}

impl IndexedRepository {
    /// Returns the index.
    pub(super) fn index(&self) -> &Index {
        self.loaded.index()
    }

    /// Returns a file.
    pub(super) fn file(&self, path: &str) -> Result<FileEntry<'_>, RepositoryError> {
        let found = self.index().find(path).and_then(|id| self.index().entry(id));
        found.ok_or(RepositoryError::NoFile)
    }
}

/// Returns a symbol of an index.
pub(super) fn symbol(index: &Index, symbol: SymbolRef) -> Result<Option<Symbol>, IndexError> {
    let position = usize::try_from(symbol.position).unwrap_or(usize::MAX);
    Ok(index.outline(symbol.file)?.symbols.into_iter().nth(position))
}

/// Returns lines that a request names, checked against the number of lines that there are.
pub(super) fn lines(
    start: u32,
    end: u32,
    total: u32,
    field: &'static str,
) -> Result<LineRange, Invalid> {
    LineRange::new(start, end).filter(|lines| lines.end() <= total).ok_or_else(|| {
        let expected = match total {
            0 => "must not be given: the file is empty".to_owned(),
            total => format!("must be lines from 1 to {total}, the first before the last"),
        };
        Invalid::field(field, expected)
    })
}
