//! The values of widgets: asked for, brought into the form of their type, all of a dashboard at once.

mod ask;
mod heatmap;
mod render;
mod shape;

pub(super) use heatmap::Cell;
pub(super) use render::{Rendered, RenderedWidgets, Span, render};
pub(super) use shape::{Data, Item, Point, Text};
