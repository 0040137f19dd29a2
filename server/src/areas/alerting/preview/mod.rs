//! When a rule would have fired, before it is created or changed.

mod routes;
#[cfg(test)]
mod tests;
mod wire;

pub use routes::PREVIEW_ROUTES;
