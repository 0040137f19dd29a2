//! The OpenAPI 3.1 document, generated from the route tables, so that it contains exactly the
//! routes that exist.

mod document;
mod operation;
mod parameters;
mod responses;
mod schemas;

pub(super) use document::document;
