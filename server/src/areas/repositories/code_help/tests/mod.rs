//! What is promised of explanations and documentation.

mod c;
mod caught;
mod docs;
mod documentation;
mod ecmascript;
mod go;
mod harness;
mod java;
mod plain_text;
mod properties;
mod publishable;
mod python;
mod ranges;
mod ruby;
mod rust;
