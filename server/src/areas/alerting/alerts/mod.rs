//! The API of alerts: list them, see why and who was notified, take charge of them, resolve them.

mod ops;
mod routes;
#[cfg(test)]
mod tests;
mod wire;

pub use routes::ALERT_ROUTES;
