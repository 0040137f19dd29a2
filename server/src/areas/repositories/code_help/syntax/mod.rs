//! Syntax trees: their making within limits, and access to their nodes.

mod nodes;
mod parse;

pub(super) use nodes::{
    Text, child_of_kind, end_line, field, has_word, named_children, start_line,
};
pub(super) use parse::parse;
