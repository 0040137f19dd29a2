//! A dashboard and its widgets, and the rules of the grid they lie on. What a widget asks and shows is its
//! [`Definition`].

use std::collections::HashSet;

use telltale_engine::TimestampMs;

use super::definition::{Definition, Position, WidgetQuery};
use super::error::{DashboardsError, Invalid, Rule};
use super::options::WidgetOptions;
use crate::limits;

/// A dashboard.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Dashboard {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) description: Option<String>,
    pub(super) created_at: TimestampMs,
    /// When the dashboard or any of its widgets last changed.
    pub(super) updated_at: TimestampMs,
    /// In the order they were made.
    pub(super) widgets: Vec<Widget>,
}

/// A dashboard as a list shows it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Summary {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) description: Option<String>,
    pub(super) created_at: TimestampMs,
    pub(super) updated_at: TimestampMs,
    pub(super) widgets_count: usize,
}

/// A widget of a dashboard.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Widget {
    pub(super) id: String,
    pub(super) created_at: TimestampMs,
    pub(super) definition: Definition,
}

/// A dashboard that has no id yet: what a caller sent, checked.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Draft {
    pub(super) name: String,
    pub(super) description: Option<String>,
    /// The definitions of its widgets; one without a position finds its own.
    pub(super) widgets: Vec<UnplacedWidget>,
}

/// A widget that may have no position yet.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct UnplacedWidget {
    pub(super) definition: Definition,
    /// Whether the position of the definition is one that the caller chose.
    pub(super) is_placed: bool,
}

/// What shall become of the name and the description of a dashboard; absent fields stay.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Change {
    pub(super) name: Option<String>,
    pub(super) description: Option<Option<String>>,
}

/// What shall become of a widget; absent fields stay.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct WidgetChange {
    pub(super) title: Option<String>,
    /// None inside: the default position.
    pub(super) position: Option<Option<Position>>,
    pub(super) query: Option<WidgetQuery>,
    pub(super) options: Option<WidgetOptions>,
}

/// Where the widget called `id` shall lie.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Move {
    pub(super) id: String,
    pub(super) position: Position,
}

impl Dashboard {
    /// The widget called `id`.
    pub(super) fn widget(&self, id: &str) -> Result<&Widget, DashboardsError> {
        let found = self.widgets.iter().find(|widget| widget.id == id);
        found.ok_or_else(|| DashboardsError::WidgetNotFound(id.to_owned()))
    }

    /// The widget called `id`, to change.
    pub(super) fn widget_mut(&mut self, id: &str) -> Result<&mut Widget, DashboardsError> {
        let found = self.widgets.iter_mut().find(|widget| widget.id == id);
        found.ok_or_else(|| DashboardsError::WidgetNotFound(id.to_owned()))
    }

    /// Adds a widget; one without a position goes below all others.
    pub(super) fn add(
        &mut self,
        id: String,
        created_at: TimestampMs,
        sketch: UnplacedWidget,
    ) -> Result<(), DashboardsError> {
        if self.widgets.len() >= limits::WIDGETS_MAX {
            return Err(DashboardsError::TooManyWidgets);
        }
        let mut definition = sketch.definition;
        if !sketch.is_placed {
            definition.position = next_position(self.widgets.iter());
        }
        self.widgets.push(Widget { id, created_at, definition });
        Ok(())
    }

    /// Changes the widget called `id`, and answers what it is now.
    pub(super) fn change_widget(
        &mut self,
        id: &str,
        change: WidgetChange,
    ) -> Result<&Definition, DashboardsError> {
        let others = self.widgets.iter().filter(|widget| widget.id != id);
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

    /// Removes the widget called `id`.
    pub(super) fn remove(&mut self, id: &str) -> Result<(), DashboardsError> {
        self.widget(id)?;
        self.widgets.retain(|widget| widget.id != id);
        Ok(())
    }

    /// Moves widgets: all of them, or none when one is unknown.
    pub(super) fn arrange(&mut self, moves: &[Move]) -> Result<(), DashboardsError> {
        for one in moves {
            self.widget(&one.id)?;
        }
        for one in moves {
            self.widget_mut(&one.id)?.definition.position = one.position;
        }
        Ok(())
    }
}

/// The default place of a widget: the start of the first row below all others.
fn next_position<'a>(others: impl Iterator<Item = &'a Widget>) -> Position {
    let (width, height) = (limits::WIDGET_WIDTH_DEFAULT, limits::WIDGET_HEIGHT_DEFAULT);
    let ends = others.map(|widget| widget.definition.position).map(|at| at.y + at.height);
    let y = ends.max().unwrap_or(0).min(limits::GRID_ROWS_MAX - height);
    Position { x: 0, y, width, height }
}

/// What is wrong with a name or a title of spaces only.
pub(super) const BLANK: &str = "must not consist of spaces only";

/// Checks the name of a dashboard; an absent one is an empty one.
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

/// Checks the description of a dashboard.
pub(super) fn description(text: Option<String>) -> Result<Option<String>, Invalid> {
    let max = limits::DASHBOARD_DESCRIPTION_CHARS_MAX;
    match text {
        Some(text) if text.chars().count() > max => {
            Err(Invalid::field("description", format!("must have at most {max} characters")))
        }
        text => Ok(text),
    }
}

/// Refuses moves of which two are of one widget: nobody can say which one counts.
pub(super) fn check_moves(moves: &[Move]) -> Result<(), Invalid> {
    let mut seen = HashSet::new();
    for (i, one) in moves.iter().enumerate() {
        if !seen.insert(one.id.as_str()) {
            return Err(Invalid::field(
                format!("widgets[{i}].id"),
                "must not be that of another item",
            ));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::definition::WidgetType;
    use super::*;

    fn sketch(position: Option<Position>) -> UnplacedWidget {
        let none = Position { x: 0, y: 0, width: 1, height: 1 };
        UnplacedWidget {
            is_placed: position.is_some(),
            definition: Definition {
                r#type: WidgetType::Number,
                title: "a".to_owned(),
                position: position.unwrap_or(none),
                query: WidgetQuery::default(),
                options: WidgetOptions::default(),
            },
        }
    }

    fn dashboard(positions: &[Option<Position>]) -> Dashboard {
        let zero = TimestampMs(0);
        let mut dashboard = Dashboard {
            id: "d".to_owned(),
            name: "n".to_owned(),
            description: None,
            created_at: zero,
            updated_at: zero,
            widgets: Vec::new(),
        };
        for (i, position) in positions.iter().enumerate() {
            dashboard.add(format!("w{i}"), zero, sketch(*position)).unwrap();
        }
        dashboard
    }

    fn places(dashboard: &Dashboard) -> Vec<(u32, u32, u32, u32)> {
        let places = dashboard.widgets.iter().map(|widget| widget.definition.position);
        places.map(|at| (at.x, at.y, at.width, at.height)).collect()
    }

    #[test]
    fn a_widget_without_a_position_goes_to_the_next_free_row() {
        let low = Position { x: 6, y: 4, width: 6, height: 5 };
        let dashboard = dashboard(&[None, None, Some(low), None]);
        assert_eq!(places(&dashboard), [(0, 0, 4, 3), (0, 3, 4, 3), (6, 4, 6, 5), (0, 9, 4, 3)]);
    }

    #[test]
    fn a_position_that_is_cleared_is_the_default_among_the_others() {
        let mut dashboard = dashboard(&[None, None]);
        let change = WidgetChange { position: Some(None), ..WidgetChange::default() };
        dashboard.change_widget("w0", change).unwrap();
        assert_eq!(places(&dashboard), [(0, 6, 4, 3), (0, 3, 4, 3)]);
    }

    #[test]
    fn moves_are_made_all_or_not_at_all() {
        let mut dashboard = dashboard(&[None, None]);
        let before = dashboard.clone();
        let to = |id: &str, y| Move {
            id: id.to_owned(),
            position: Position { x: 0, y, width: 12, height: 1 },
        };
        let error = dashboard.arrange(&[to("w0", 7), to("w9", 8)]).unwrap_err();
        assert!(matches!(error, DashboardsError::WidgetNotFound(id) if id == "w9"));
        assert_eq!(dashboard, before);
        dashboard.arrange(&[to("w1", 7), to("w0", 8)]).unwrap();
        assert_eq!(places(&dashboard), [(0, 8, 12, 1), (0, 7, 12, 1)]);
        assert!(check_moves(&[to("w0", 7), to("w0", 8)]).is_err());
    }

    #[test]
    fn there_are_only_so_many_widgets() {
        let mut dashboard = dashboard(&vec![None; limits::WIDGETS_MAX]);
        let more = dashboard.add("more".to_owned(), TimestampMs(0), sketch(None));
        assert!(matches!(more, Err(DashboardsError::TooManyWidgets)));
    }
}
