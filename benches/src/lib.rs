//! What the benches share: data that looks measured, and a server in this process.

pub mod data;
pub mod events;
pub mod house;
