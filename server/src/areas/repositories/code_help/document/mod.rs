//! The documentation of a file: its overview, its public functions, and examples of their use.

mod examples;
mod file;
mod methods;

pub use file::document;
