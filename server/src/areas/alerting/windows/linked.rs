//! Maintenance windows that belong to resources of another area: they are changed in the same
//! transaction.

use std::sync::Arc;

use telltale_engine::{Error, TimestampMs, Versioned};

use super::model::{self, Occurrences, Window, WindowChange, WindowSettings};
use super::ops::check_rules;
use crate::app::App;
use crate::areas::alerting::documents::{self, Changes};
use crate::areas::alerting::error::AlertingError;
use crate::areas::alerting::ids::WindowId;
use crate::platform::calendar::Zone;
use crate::platform::documents::{Changes as ChangesOfArea, DocumentError};

/// Changes of windows that are applied together with the changes of another area.
#[derive(Debug)]
pub struct LinkedWindows<'a> {
    app: &'a App,
    changes: Changes<'a>,
}

/// What the resource of another area states about a new window.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkedWindow {
    /// The name, valid as that of a window.
    pub name: String,
    /// The first instant.
    pub starts_at: TimestampMs,
    /// The first instant after it.
    pub ends_at: TimestampMs,
}

/// A change of a window; `None` leaves as it is what users may have changed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LinkedWindowChange {
    /// The name, valid as that of a window.
    pub name: Option<String>,
    /// The first instant, and the first after it. The window does not recur then.
    pub times: Option<(TimestampMs, TimestampMs)>,
    /// Whether it is switched on.
    pub is_active: Option<bool>,
    /// The rules that it mutes, or all.
    pub rule_ids: Option<Option<Vec<String>>>,
}

/// What a window mutes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkedMuting {
    /// Whether it is switched on.
    pub is_active: bool,
    /// The rules that it mutes; `None` for all.
    pub rule_ids: Option<Vec<String>>,
}

impl LinkedMuting {
    /// Returns what a window mutes, if there is one with this id: users may have deleted it. Blocks
    /// only after a change of documents.
    pub fn of_window(app: &App, id: &str) -> Result<Option<Self>, AlertingError> {
        Ok(find(app, id)?.map(|window| Self::from(window.as_ref())))
    }

    /// Returns whether a window is switched on, if there is one with this id. Blocks only after a
    /// change of documents.
    pub fn is_active(app: &App, id: &str) -> Result<Option<bool>, AlertingError> {
        Ok(find(app, id)?.map(|window| window.settings.active))
    }
}

fn find(app: &App, id: &str) -> Result<Option<Arc<Window>>, AlertingError> {
    let directory = app.alerting().directory(app)?;
    Ok(directory.windows.get(&id.to_owned().into()).map(Arc::clone))
}

impl From<&Window> for LinkedMuting {
    fn from(window: &Window) -> Self {
        let settings = &window.settings;
        Self { is_active: settings.active, rule_ids: settings.rule_ids.clone() }
    }
}

impl<'a> LinkedWindows<'a> {
    /// Waits for the change of alerting before this one. The caller holds the lock of its own area
    /// before: alerting never waits for another area.
    pub fn begin(app: &'a App) -> Self {
        Self { app, changes: documents::begin(app) }
    }

    /// Adds a window that mutes these rules, or all, once, on behalf of a user. Returns its id.
    pub fn create(
        &mut self,
        window: LinkedWindow,
        rule_ids: Option<Vec<String>>,
        created_by: &str,
    ) -> Result<String, AlertingError> {
        let LinkedWindow { name, starts_at, ends_at } = window;
        self.check(rule_ids.as_deref())?;
        let settings = WindowSettings {
            name,
            description: None,
            starts_at,
            ends_at,
            timezone: Zone::UTC,
            active: true,
            recurrence_rule: None,
            rule_ids,
            services: Vec::new(),
        };
        let occurrences = Occurrences::new(&settings)?;
        let id = self.app.new_id(WindowId::PREFIX);
        let (created_by, created_at) = (created_by.to_owned(), self.app.now());
        let window =
            Window { id: id.clone().into(), settings, occurrences, created_by, created_at };
        self.changes.insert(&window)?;
        Ok(id)
    }

    /// Changes a window. Returns what it mutes then, if there is one with this id.
    pub fn update(
        &mut self,
        id: &str,
        change: LinkedWindowChange,
    ) -> Result<Option<LinkedMuting>, AlertingError> {
        let Some(Versioned { value: mut window, revision }) = self.get(id)? else {
            return Ok(None);
        };
        let LinkedWindowChange { name, times, is_active, rule_ids } = change;
        self.check(rule_ids.as_ref().and_then(Option::as_deref))?;
        let before = window.settings.clone();
        window.change(WindowChange {
            name,
            starts_at: times.map(|(starts_at, _)| starts_at),
            ends_at: times.map(|(_, ends_at)| ends_at),
            recurring: times.map(|_| false),
            active: is_active,
            rule_ids,
            ..WindowChange::default()
        })?;
        if window.settings != before {
            self.changes.replace(&window, revision)?;
        }
        Ok(Some(LinkedMuting::from(&window)))
    }

    /// Returns what a window mutes, if there is one with this id.
    pub fn muting(&self, id: &str) -> Result<Option<LinkedMuting>, AlertingError> {
        Ok(self.get(id)?.map(|found| LinkedMuting::from(&found.value)))
    }

    /// Deletes a window, which may be unreadable, if there is one with this id.
    pub fn delete(&mut self, id: &str) -> Result<(), AlertingError> {
        match self.changes.revision::<Window>(id, |_| true) {
            Ok(revision) => self.changes.delete::<Window>(id, revision),
            Err(AlertingError::NotFound(..)) => {}
            Err(error) => return Err(error),
        }
        Ok(())
    }

    /// Applies these changes and those of another area, all or none.
    pub fn commit_with<K, E>(self, changes: ChangesOfArea<'_, K, E>) -> Result<u64, E>
    where
        K: Copy,
        E: From<DocumentError<K>> + From<Error>,
    {
        changes.commit_with(self.changes)
    }

    fn get(&self, id: &str) -> Result<Option<Versioned<Window>>, AlertingError> {
        match self.changes.get::<Window>(id, |_| true) {
            Ok(found) => Ok(Some(found)),
            Err(AlertingError::NotFound(..)) => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn check(&self, rule_ids: Option<&[String]>) -> Result<(), AlertingError> {
        rule_ids.map_or(Ok(()), model::check_rule_ids)?;
        check_rules(&self.changes, rule_ids)
    }
}
