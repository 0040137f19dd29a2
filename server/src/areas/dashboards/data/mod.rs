//! The values of widgets: queried, converted to the form of the widget type, for all widgets of a
//! dashboard concurrently.

mod heatmap;
mod render;
mod shape;

pub(super) use heatmap::Cell;
pub(super) use render::{Rendered, RenderedWidgets, RequestedRange, render};
pub(super) use shape::{Data, Item, Point, TableValue};
