//! Reading of pages and diagrams. All of it blocks.

use telltale_engine::{Error, MemoryOwner};

use super::store::StoredPages;
use crate::app::App;
use crate::areas::repositories::diagrams::Diagram;
use crate::areas::repositories::error::RepositoryError;
use crate::areas::repositories::ids::RepositoryId;
use crate::areas::repositories::repository::{self, StoredFile};
use crate::areas::repositories::wiki::WikiPage;

/// The pages and diagrams of a repository.
#[derive(Debug)]
pub(super) struct RepositoryPages {
    /// The beginning of the name of the commit that they are about.
    pub(super) commit: String,
    pages: StoredPages,
}

/// Reads the pages and diagrams of a repository.
pub(super) fn read(app: &App, id: RepositoryId) -> Result<RepositoryPages, RepositoryError> {
    let repository = repository::get(app, id)?.value;
    let indexed = repository.indexed.ok_or(RepositoryError::NotSynced)?;
    let file = indexed.files.wiki;
    let _memory = app.engine().memory().take(MemoryOwner::Answers, file.memory_bytes)?;
    let pages = stored(app, file).inspect_err(|error| {
        if matches!(error, RepositoryError::IndexLost(_)) {
            app.repositories().indexes().set_lost(file.digest);
        }
    })?;
    Ok(RepositoryPages { commit: indexed.short_commit(), pages })
}

fn stored(app: &App, file: StoredFile) -> Result<StoredPages, RepositoryError> {
    let contents = match app.engine().files().read_sized(file.digest, file.bytes) {
        Ok(Some(contents)) => contents,
        Ok(None) => return Err(RepositoryError::IndexLost("its pages are missing".to_owned())),
        Err(Error::Corrupt(what)) => return Err(RepositoryError::IndexLost(what)),
        Err(error) => return Err(error.into()),
    };
    StoredPages::from_bytes(&contents).map_err(RepositoryError::IndexLost)
}

/// Reads one page.
pub(super) fn page(
    app: &App,
    id: RepositoryId,
    slug: &str,
) -> Result<(String, WikiPage), RepositoryError> {
    let read = read(app, id)?;
    let page = read.pages.pages().iter().find(|page| page.slug == slug).cloned();
    let page = page.ok_or(RepositoryError::NoPage)?;
    Ok((read.commit, page))
}

impl RepositoryPages {
    /// Returns the pages.
    pub(super) fn pages(&self) -> &[WikiPage] {
        self.pages.pages()
    }

    /// Returns the diagrams.
    pub(super) fn diagrams(&self) -> &[Diagram] {
        self.pages.diagrams()
    }
}
