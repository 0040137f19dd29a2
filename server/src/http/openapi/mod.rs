//! The OpenAPI 3.1 document, made from the route tables: what is not in a table is not documented, and what is
//! in one cannot be left out.

mod document;
mod operation;
mod parameters;
mod responses;
mod schemas;

pub(super) use document::document;
