//! The operations on sessions. All of them block.

use telltale_engine::{TimestampMs, Versioned};

use super::model::{Session, Turn, TurnAnswer};
use super::sessions::OldSession;
use crate::app::App;
use crate::areas::repositories::documents::{self, Changes};
use crate::areas::repositories::error::{RepositoryError, RepositoryKind};
use crate::areas::repositories::ids::{RepositoryId, SessionId};
use crate::areas::repositories::limits;
use crate::areas::repositories::repository;
use crate::platform::fields::Invalid;

/// The session of a question.
#[derive(Clone, Debug)]
pub(super) enum SessionOf {
    /// One that exists.
    Existing(SessionId),
    /// A new one.
    New(Session),
}

/// Creates a session on behalf of a user.
pub(super) fn create(
    app: &App,
    repository: RepositoryId,
    context: Option<String>,
    created_by: String,
) -> Result<Session, RepositoryError> {
    let session = new(app, repository, context, created_by)?;
    let mut changes = documents::begin(app);
    let removed = make_room(app, &mut changes, session.id)?;
    changes.insert(&session)?;
    changes.commit_then(None, |_| {
        show_removed(app, &removed);
        app.repositories().sessions().put(&session);
    })?;
    Ok(session)
}

/// Returns a session that is not stored yet.
pub(super) fn new(
    app: &App,
    repository: RepositoryId,
    context: Option<String>,
    created_by: String,
) -> Result<Session, RepositoryError> {
    repository::get(app, repository)?;
    let now = app.now();
    Ok(Session {
        id: SessionId(app.new_number()),
        repository,
        context,
        turns: 0,
        created_by,
        created_at: now,
        used_at: now,
    })
}

/// Returns a session, whose repository exists.
pub(super) fn get(app: &App, id: SessionId) -> Result<Session, RepositoryError> {
    let found: Versioned<Session> = documents::get(app.engine(), &id.text())?;
    if app.repositories().directory().contains(found.value.repository) {
        Ok(found.value)
    } else {
        Err(RepositoryError::NotFound(RepositoryKind::Session, id.text()))
    }
}

/// Returns a session that is about a repository.
pub(super) fn get_of(
    app: &App,
    id: SessionId,
    repository: RepositoryId,
) -> Result<Session, RepositoryError> {
    let session = get(app, id)?;
    if session.repository != repository {
        let expected = format!("is a session about {}", session.repository.text());
        return Err(Invalid::field("session_id", expected).into());
    }
    if session.turns >= limits::SESSION_TURNS_MAX {
        return Err(RepositoryError::SessionFull);
    }
    Ok(session)
}

/// Returns the last turns of a session, oldest first.
pub(super) fn turns(
    app: &App,
    session: &Session,
    limit: u32,
) -> Result<Vec<Turn>, RepositoryError> {
    let first = session.turns.saturating_sub(limit);
    let mut turns = Vec::new();
    for number in first..session.turns {
        let found = documents::get::<Turn>(app.engine(), &Turn::key(session.id, number));
        match found {
            Ok(found) => turns.push(found.value),
            // The session was deleted meanwhile, or the turn is damaged and reported.
            Err(RepositoryError::NotFound(..)) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(turns)
}

/// Stores a question and its answer. Returns the session as it is then.
pub(super) fn add_turn(
    app: &App,
    of: SessionOf,
    question: String,
    asked_at: TimestampMs,
    answer: TurnAnswer,
) -> Result<Session, RepositoryError> {
    let mut changes = documents::begin(app);
    let (mut session, revision) = match of {
        SessionOf::New(session) => (session, None),
        SessionOf::Existing(id) => {
            let found = changes.get::<Session>(&id.text(), |_| true)?;
            (found.value, Some(found.revision))
        }
    };
    if session.turns >= limits::SESSION_TURNS_MAX {
        return Err(RepositoryError::SessionFull);
    }
    let removed = make_room(app, &mut changes, session.id)?;
    let answered_at = app.now();
    let number = session.turns;
    changes.insert(&Turn {
        session: session.id,
        number,
        question,
        asked_at,
        answer,
        answered_at,
    })?;
    session.turns += 1;
    session.used_at = answered_at;
    match revision {
        None => changes.insert(&session)?,
        Some(revision) => changes.replace(&session, revision)?,
    }
    changes.commit_then(None, |_| {
        show_removed(app, &removed);
        app.repositories().sessions().put(&session);
    })?;
    Ok(session)
}

/// Deletes a session.
pub(super) fn delete(app: &App, id: SessionId) -> Result<(), RepositoryError> {
    let mut changes = documents::begin(app);
    let found = changes.get::<Session>(&id.text(), |_| true)?;
    remove(&mut changes, OldSession { id, turns: found.value.turns })?;
    changes.commit_then(None, |_| app.repositories().sessions().remove(id))?;
    Ok(())
}

/// Deletes sessions that were not used for long, or whose repositories are gone.
pub(in crate::areas::repositories) fn delete_unused(app: &App) -> Result<(), RepositoryError> {
    // By the trusted time, so that a wrong clock deletes nothing.
    let now = app.engine().trusted_time().expiry;
    let before = TimestampMs(now.0.saturating_sub(limits::SESSION_KEPT_MS));
    let exists = |id| app.repositories().directory().contains(id);
    for old in app.repositories().sessions().unused(before, exists) {
        let mut changes = documents::begin(app);
        remove(&mut changes, old)?;
        changes.commit_then(None, |_| app.repositories().sessions().remove(old.id))?;
    }
    Ok(())
}

/// Adds the deletion of the oldest session to a change, if there are too many. Returns it.
fn make_room(
    app: &App,
    changes: &mut Changes<'_>,
    kept: SessionId,
) -> Result<Option<OldSession>, RepositoryError> {
    let old = app.repositories().sessions().superfluous(kept);
    if let Some(old) = old {
        remove(changes, old)?;
    }
    Ok(old)
}

fn show_removed(app: &App, removed: &Option<OldSession>) {
    if let Some(old) = removed {
        app.repositories().sessions().remove(old.id);
    }
}

fn remove(changes: &mut Changes<'_>, old: OldSession) -> Result<(), RepositoryError> {
    for number in 0..old.turns {
        let key = Turn::key(old.id, number);
        match changes.revision::<Turn>(&key, |_| true) {
            Ok(revision) => changes.delete::<Turn>(&key, revision),
            Err(RepositoryError::NotFound(..)) => {}
            Err(error) => return Err(error),
        }
    }
    match changes.revision::<Session>(&old.id.text(), |_| true) {
        Ok(revision) => changes.delete::<Session>(&old.id.text(), revision),
        Err(RepositoryError::NotFound(..)) => {}
        Err(error) => return Err(error),
    }
    Ok(())
}
