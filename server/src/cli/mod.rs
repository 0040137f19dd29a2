//! The command line: what can be typed, and how each command does its work.
//!
//! Commands about the data of a server work while it runs and while it does not, through the same HTTP routes: over
//! the control socket or in this process. Only here is anything written to standard output.

mod args;
mod background;
mod copy;
mod health;
mod import;
mod keys;
mod manual;
mod query;
mod run;
mod serve;
mod settings;

mod error;
mod output;
mod table;
mod target;
mod wiring;

pub use run::run;
