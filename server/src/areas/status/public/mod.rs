//! The public side: status pages as their visitors see them, without a key.
//!
//! A page is put together (`assemble`) as `model` describes it, rendered in all its forms (`html`,
//! `document`, `atom`, `badge`), and kept for some seconds (`cache`). Nothing of the server but
//! what `model` contains can reach a visitor.

mod assemble;
mod atom;
mod badge;
mod branding;
mod cache;
mod document;
#[cfg(test)]
mod examples;
mod html;
mod message;
mod model;
mod rendered;
mod routes;
mod subscriptions;
#[cfg(test)]
mod tests;
mod wire;
mod words;

pub(super) use cache::PublicCache;
pub use routes::{PUBLIC_ROUTES, render_page};
pub use subscriptions::SUBSCRIPTION_ROUTES;
