//! The command line: its declaration, and the implementation of each command.
//!
//! Commands about the data of a server work whether it is running or not, through the same HTTP
//! routes: over the control socket or in this process. Only this module writes to standard output.

mod args;
mod askpass;
mod copy;
mod health;
mod import;
mod keys;
mod load;
mod login;
mod manual;
mod query;
mod run;
mod serve;
mod settings;

mod error;
mod output;
mod table;
mod target;

pub use run::run;
