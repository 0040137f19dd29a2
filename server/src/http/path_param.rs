//! Values in paths: names and ids of resources, parsed before a handler sees them.

use telltale_engine::MetricName;

use super::error::{ApiError, ApiResult};
use super::request::Request;
use super::resource::Resource;

/// A name or id in a path.
pub trait PathParam: Sized {
    /// The resource that it names. If the path contains no valid name or id, the resource does not
    /// exist.
    const RESOURCE: &'static Resource;

    /// Parses the percent-decoded text; `None` if no resource can have this name or id.
    fn from_path(text: &str) -> Option<Self>;
}

/// Metrics are resources of the engine: its refusals name them.
impl PathParam for MetricName {
    const RESOURCE: &'static Resource = &Resource::new("metric_not_found", "metric");

    fn from_path(text: &str) -> Option<Self> {
        Self::new(text).ok()
    }
}

impl Request {
    /// Returns the path parameter `name`. Fails with the `…_not_found` error of its resource if the
    /// text is no valid name or id.
    ///
    /// # Panics
    /// If the route's path has no such parameter.
    pub fn path<T: PathParam>(&self, name: &str) -> ApiResult<T> {
        let text = self.param(name);
        T::from_path(text).ok_or_else(|| ApiError::missing(T::RESOURCE, text))
    }
}
