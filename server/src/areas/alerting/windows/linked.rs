//! Maintenance windows that belong to resources of another area: they are changed in the same
//! transaction.

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

/// What the resource of another area states about its window.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkedWindow {
    /// The name, valid as that of a window.
    pub name: String,
    /// The first instant.
    pub starts_at: TimestampMs,
    /// The first instant after it.
    pub ends_at: TimestampMs,
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

    /// Changes a window, and which rules it mutes unless `rule_ids` is `None`. Returns whether
    /// there is one with this id: users may have deleted it.
    pub fn update(
        &mut self,
        id: &str,
        window: LinkedWindow,
        rule_ids: Option<Option<Vec<String>>>,
    ) -> Result<bool, AlertingError> {
        let LinkedWindow { name, starts_at, ends_at } = window;
        let Some(Versioned { value: mut window, revision }) = self.get(id)? else {
            return Ok(false);
        };
        self.check(rule_ids.as_ref().and_then(Option::as_deref))?;
        window.change(WindowChange {
            name: Some(name),
            starts_at: Some(starts_at),
            ends_at: Some(ends_at),
            recurring: Some(false),
            rule_ids,
            ..WindowChange::default()
        })?;
        self.changes.replace(&window, revision)?;
        Ok(true)
    }

    /// Deletes a window, if there is one with this id.
    pub fn delete(&mut self, id: &str) -> Result<(), AlertingError> {
        if let Some(found) = self.get(id)? {
            self.changes.delete::<Window>(id, found.revision);
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
