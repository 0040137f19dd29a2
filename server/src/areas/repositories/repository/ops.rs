//! Reading repositories and their tokens. All of it blocks.

use telltale_engine::Versioned;

use super::model::Repository;
use super::store::seal_context;
use crate::app::App;
use crate::areas;
use crate::areas::repositories::documents;
use crate::areas::repositories::error::RepositoryError;
use crate::areas::repositories::ids::RepositoryId;
use crate::platform::sealing::Secret;

/// Returns whether tokens of repositories are stored.
pub(in crate::areas) fn has_secrets(app: &App) -> Result<bool, RepositoryError> {
    let token = |found: Versioned<Repository>| found.value.token.map(drop);
    Ok(!documents::select(app.engine(), token)?.is_empty())
}

/// Returns a repository.
pub(in crate::areas::repositories) fn get(
    app: &App,
    id: RepositoryId,
) -> Result<Versioned<Repository>, RepositoryError> {
    documents::get(app.engine(), &id.text())
}

/// Returns the token of a repository, if it has one.
pub(in crate::areas::repositories) fn token(
    app: &App,
    repository: &Repository,
) -> Result<Option<Secret>, RepositoryError> {
    let Some(sealed) = &repository.token else { return Ok(None) };
    let id = repository.id.text();
    let sealer = app.repositories().secrets().sealer()?;
    let plain = sealer.open(&sealed.parse()?, &seal_context(&id))?;
    let text = std::str::from_utf8(&plain).map_err(|_| RepositoryError::TokenDamaged)?;
    Ok(Some(text.to_owned().into()))
}

/// Returns the token of a repository as it is stored.
pub(in crate::areas::repositories) fn seal(
    app: &App,
    id: RepositoryId,
    token: &Secret,
) -> Result<String, RepositoryError> {
    let sealer = areas::sealer_of_new_secrets(app, app.repositories().secrets())?;
    Ok(sealer.seal(token.expose().as_bytes(), &seal_context(&id.text()))?.to_string())
}
