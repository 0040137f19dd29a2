//! Dashboards and widgets, and their layout on the grid. The query and display of a widget are its
//! [`Definition`].

use std::collections::HashSet;

use telltale_engine::TimestampMs;
/// A document with its revision.
pub(super) use telltale_engine::Versioned;

use super::definition::{Definition, Position};
use super::error::{DashboardsError, Invalid, Rule};
use super::options::WidgetOptions;
use super::variables::{Overlay, Variable};
use crate::areas::saved_queries::SavedQuery;
use crate::limits;

/// The id of a dashboard.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct DashboardId(String);

/// The id of a widget.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct WidgetId(String);

/// A dashboard.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Dashboard {
    pub(super) id: DashboardId,
    pub(super) name: String,
    pub(super) description: Option<String>,
    pub(super) created_at: TimestampMs,
    /// When the dashboard or any of its widgets was last changed.
    pub(super) updated_at: TimestampMs,
    /// The user who made the last change; `None` if it was made before users were recorded.
    pub(super) updated_by: Option<String>,
    pub(super) variables: Vec<Variable>,
    pub(super) overlays: Vec<Overlay>,
    /// In order of creation.
    pub(super) widgets: Vec<Widget>,
}

/// The number of a version of a dashboard: its revision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct VersionNumber(pub(super) u64);

/// A version of a dashboard in a list.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct VersionSummary {
    pub(super) number: VersionNumber,
    pub(super) name: String,
    pub(super) saved_at: TimestampMs,
    pub(super) saved_by: Option<String>,
    pub(super) widgets_count: usize,
}

/// A dashboard in a list.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Summary {
    pub(super) id: DashboardId,
    pub(super) name: String,
    pub(super) description: Option<String>,
    pub(super) created_at: TimestampMs,
    pub(super) updated_at: TimestampMs,
    pub(super) widgets_count: usize,
}

/// A widget of a dashboard.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Widget {
    pub(super) id: WidgetId,
    pub(super) created_at: TimestampMs,
    pub(super) definition: Definition,
}

/// A validated request for a new dashboard, which has no id yet.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct DashboardDraft {
    pub(super) name: String,
    pub(super) description: Option<String>,
    pub(super) variables: Vec<Variable>,
    pub(super) overlays: Vec<Overlay>,
    /// Its widgets; one without a position gets a default position.
    pub(super) widgets: Vec<WidgetDraft>,
}

/// A validated request that replaces everything in a dashboard.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Replacement {
    /// The version that is replaced, if the caller named one.
    pub(super) version: Option<VersionNumber>,
    /// Its widgets have ids in `widget_ids`, in the same order; new ones have none.
    pub(super) draft: DashboardDraft,
    pub(super) widget_ids: Vec<Option<WidgetId>>,
}

/// A validated request for a new widget.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct WidgetDraft {
    pub(super) definition: Definition,
    /// Whether the caller chose the position in the definition.
    pub(super) is_placed: bool,
}

/// A change of a dashboard's name and description; `None` leaves a field unchanged.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct DashboardChange {
    pub(super) name: Option<String>,
    pub(super) description: Option<Option<String>>,
}

/// A change of a widget; `None` leaves a field unchanged.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct WidgetChange {
    pub(super) title: Option<String>,
    /// `Some(None)` resets it to the default position.
    pub(super) position: Option<Option<Position>>,
    pub(super) query: Option<SavedQuery>,
    pub(super) options: Option<WidgetOptions>,
}

/// A new position for the widget `id`.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Move {
    pub(super) id: WidgetId,
    pub(super) position: Position,
}

macro_rules! text_id {
    ($Id:ident, $prefix:literal) => {
        impl $Id {
            /// The prefix of new ids.
            pub(super) const PREFIX: &'static str = $prefix;

            /// Returns the id as text.
            pub(super) fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl From<String> for $Id {
            fn from(text: String) -> Self {
                Self(text)
            }
        }

        impl From<$Id> for String {
            fn from(id: $Id) -> Self {
                id.0
            }
        }
    };
}

text_id!(DashboardId, "dash_");
text_id!(WidgetId, "widget_");

impl Dashboard {
    /// Returns the widget `id`.
    pub(super) fn widget(&self, id: &WidgetId) -> Result<&Widget, DashboardsError> {
        let found = self.widgets.iter().find(|widget| widget.id == *id);
        found.ok_or_else(|| DashboardsError::WidgetNotFound(id.as_str().to_owned()))
    }

    /// Returns the widget `id` for modification.
    pub(super) fn widget_mut(&mut self, id: &WidgetId) -> Result<&mut Widget, DashboardsError> {
        let found = self.widgets.iter_mut().find(|widget| widget.id == *id);
        found.ok_or_else(|| DashboardsError::WidgetNotFound(id.as_str().to_owned()))
    }

    /// Adds a widget; one without a position is placed below all others.
    pub(super) fn add(
        &mut self,
        id: WidgetId,
        created_at: TimestampMs,
        widget_draft: WidgetDraft,
    ) -> Result<(), DashboardsError> {
        if self.widgets.len() >= limits::WIDGETS_MAX {
            return Err(DashboardsError::TooManyWidgets);
        }
        let mut definition = widget_draft.definition;
        if !widget_draft.is_placed {
            definition.position = next_position(self.widgets.iter());
        }
        self.widgets.push(Widget { id, created_at, definition });
        Ok(())
    }

    /// Changes the widget `id` and returns its new definition.
    pub(super) fn change_widget(
        &mut self,
        id: &WidgetId,
        change: WidgetChange,
    ) -> Result<&Definition, DashboardsError> {
        let others = self.widgets.iter().filter(|widget| widget.id != *id);
        let free = next_position(others);
        let definition = &mut self.widget_mut(id)?.definition;
        if let Some(title) = change.title {
            definition.title = title;
        }
        if let Some(position) = change.position {
            definition.position = position.unwrap_or(free);
        }
        if let Some(query) = change.query {
            definition.query = query;
        }
        if let Some(options) = change.options {
            definition.options = options;
        }
        Ok(definition)
    }

    /// Removes the widget `id`.
    pub(super) fn remove(&mut self, id: &WidgetId) -> Result<(), DashboardsError> {
        self.widget(id)?;
        self.widgets.retain(|widget| widget.id != *id);
        Ok(())
    }

    /// Replaces everything but id and time of creation. Widgets with the id of an existing one keep
    /// its time of creation; `new_id` makes the ids of those without one.
    pub(super) fn replace(
        &mut self,
        replacement: Replacement,
        now: TimestampMs,
        new_id: impl Fn() -> WidgetId,
    ) -> Result<(), DashboardsError> {
        let DashboardDraft { name, description, variables, overlays, widgets } = replacement.draft;
        let before = std::mem::take(&mut self.widgets);
        for (draft, id) in widgets.into_iter().zip(replacement.widget_ids) {
            let known = before.iter().find(|widget| Some(&widget.id) == id.as_ref());
            let created_at = known.map_or(now, |widget| widget.created_at);
            self.add(id.unwrap_or_else(&new_id), created_at, draft)?;
        }
        (self.name, self.description) = (name, description);
        (self.variables, self.overlays) = (variables, overlays);
        Ok(())
    }

    /// Makes everything but id and time of creation as it was in another version.
    pub(super) fn restore(&mut self, version: Self) {
        (self.name, self.description) = (version.name, version.description);
        (self.variables, self.overlays) = (version.variables, version.overlays);
        self.widgets = version.widgets;
    }

    /// Moves widgets; moves none if one of them is unknown.
    pub(super) fn arrange(&mut self, moves: &[Move]) -> Result<(), DashboardsError> {
        for entry in moves {
            self.widget(&entry.id)?;
        }
        for entry in moves {
            self.widget_mut(&entry.id)?.definition.position = entry.position;
        }
        Ok(())
    }
}

/// Returns the default position of a widget: the start of the first row below all others.
fn next_position<'a>(others: impl Iterator<Item = &'a Widget>) -> Position {
    let (width, height) = (limits::WIDGET_WIDTH_DEFAULT, limits::WIDGET_HEIGHT_DEFAULT);
    let ends = others.map(|widget| widget.definition.position).map(|at| at.y + at.height);
    let y = ends.max().unwrap_or(0).min(limits::GRID_ROWS_MAX - height);
    Position { x: 0, y, width, height }
}

/// The form of the values of graphs in a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum GraphForm {
    /// Points, each with its time.
    Points,
    /// One list of times for all lines.
    Columns,
}

impl GraphForm {
    /// Parses the name of a form; `None` if it is unknown.
    pub(super) fn parse(text: &str) -> Option<Self> {
        match text {
            "points" => Some(Self::Points),
            "columns" => Some(Self::Columns),
            _ => None,
        }
    }
}

/// What is expected of a name or title that consists of spaces only.
pub(super) const BLANK: &str = "must not consist of spaces only";

/// Validates the name of a dashboard; an absent name counts as empty.
pub(super) fn name(text: Option<String>) -> Result<String, Invalid> {
    let text = text.unwrap_or_default();
    let (field, max) = ("name".to_owned(), limits::DASHBOARD_NAME_CHARS_MAX);
    if text.is_empty() {
        return Err(Invalid { rule: Rule::NameMissing, field, expected: "is required".to_owned() });
    }
    if text.chars().count() > max || text.chars().any(char::is_control) {
        let expected = format!("must have at most {max} characters and no control characters");
        return Err(Invalid { rule: Rule::Name, field, expected });
    }
    if text.chars().all(char::is_whitespace) {
        return Err(Invalid { rule: Rule::Name, field, expected: BLANK.to_owned() });
    }
    Ok(text)
}

/// Validates the description of a dashboard.
pub(super) fn description(text: Option<String>) -> Result<Option<String>, Invalid> {
    let max = limits::DASHBOARD_DESCRIPTION_CHARS_MAX;
    match text {
        Some(text) if text.chars().count() > max => {
            Err(Invalid::field("description", format!("must have at most {max} characters")))
        }
        text => Ok(text),
    }
}

/// Checks that no widget is moved twice.
pub(super) fn check_moves(moves: &[Move]) -> Result<(), Invalid> {
    let mut seen = HashSet::new();
    for (i, entry) in moves.iter().enumerate() {
        if !seen.insert(entry.id.as_str()) {
            return Err(Invalid::field(format!("widgets[{i}].id"), "must be unique"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::definition::WidgetType;
    use super::*;

    fn widget_draft(position: Option<Position>) -> WidgetDraft {
        let none = Position { x: 0, y: 0, width: 1, height: 1 };
        WidgetDraft {
            is_placed: position.is_some(),
            definition: Definition {
                r#type: WidgetType::Number,
                title: "a".to_owned(),
                position: position.unwrap_or(none),
                query: SavedQuery::default(),
                options: WidgetOptions::default(),
            },
        }
    }

    fn dashboard(positions: &[Option<Position>]) -> Dashboard {
        let zero = TimestampMs(0);
        let mut dashboard = Dashboard {
            id: DashboardId("d".to_owned()),
            name: "n".to_owned(),
            description: None,
            created_at: zero,
            updated_at: zero,
            updated_by: None,
            variables: Vec::new(),
            overlays: Vec::new(),
            widgets: Vec::new(),
        };
        for (i, position) in positions.iter().enumerate() {
            dashboard.add(WidgetId(format!("w{i}")), zero, widget_draft(*position)).unwrap();
        }
        dashboard
    }

    fn positions(dashboard: &Dashboard) -> Vec<(u32, u32, u32, u32)> {
        let positions = dashboard.widgets.iter().map(|widget| widget.definition.position);
        positions.map(|at| (at.x, at.y, at.width, at.height)).collect()
    }

    #[test]
    fn a_widget_without_a_position_is_placed_in_the_next_free_row() {
        let low = Position { x: 6, y: 4, width: 6, height: 5 };
        let dashboard = dashboard(&[None, None, Some(low), None]);
        assert_eq!(positions(&dashboard), [(0, 0, 4, 3), (0, 3, 4, 3), (6, 4, 6, 5), (0, 9, 4, 3)]);
    }

    #[test]
    fn a_cleared_position_is_the_default_below_the_others() {
        let mut dashboard = dashboard(&[None, None]);
        let change = WidgetChange { position: Some(None), ..WidgetChange::default() };
        dashboard.change_widget(&WidgetId("w0".to_owned()), change).unwrap();
        assert_eq!(positions(&dashboard), [(0, 6, 4, 3), (0, 3, 4, 3)]);
    }

    #[test]
    fn moves_are_atomic() {
        let mut dashboard = dashboard(&[None, None]);
        let before = dashboard.clone();
        let to = |id: &str, y| Move {
            id: WidgetId(id.to_owned()),
            position: Position { x: 0, y, width: 12, height: 1 },
        };
        let error = dashboard.arrange(&[to("w0", 7), to("w9", 8)]).unwrap_err();
        assert!(matches!(error, DashboardsError::WidgetNotFound(id) if id == "w9"));
        assert_eq!(dashboard, before);
        dashboard.arrange(&[to("w1", 7), to("w0", 8)]).unwrap();
        assert_eq!(positions(&dashboard), [(0, 8, 12, 1), (0, 7, 12, 1)]);
        assert!(check_moves(&[to("w0", 7), to("w0", 8)]).is_err());
    }

    #[test]
    fn the_number_of_widgets_is_limited() {
        let mut dashboard = dashboard(&vec![None; limits::WIDGETS_MAX]);
        let more = dashboard.add(WidgetId("more".to_owned()), TimestampMs(0), widget_draft(None));
        assert!(matches!(more, Err(DashboardsError::TooManyWidgets)));
    }
}
