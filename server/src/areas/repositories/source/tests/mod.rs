//! Outlines of a file in each language, and of files that nobody would write.

mod details;
mod fixtures;
mod limits;
mod macros;
mod symbols;
