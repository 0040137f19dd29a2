//! Repositories in the search by name.

use telltale_engine::Versioned;

use super::documents;
use super::repository::Repository;
use crate::app::App;
use crate::platform::name_search::NameMatches;

/// Offers all repositories. Blocks.
pub(in crate::areas) fn offer_repositories(
    app: &App,
    matches: &mut NameMatches<'_>,
) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    documents::select(app.engine(), |found: Versioned<Repository>| -> Option<()> {
        let repository = found.value;
        let describe = || (repository.id.text(), Some(repository.url.to_string()));
        matches.offer(&repository.name, describe);
        None
    })?;
    Ok(())
}
