//! The settings of OTLP.

use crate::platform::settings::{Words, settings_section};

settings_section! {
    /// OTLP metrics: the attributes that become tags, in addition to those of data points.
    #[derive(Clone, Debug, PartialEq, Eq)]
    "otlp" OtlpSettings {
        /// Resource attributes. Each of them can increase the number of series.
        resource_attributes: Words = "service.name,service.namespace,service.instance.id,host.name,deployment.environment.name";
        /// Scope attributes; the name and the version of a scope are `otel.scope.name` and
        /// `otel.scope.version`.
        scope_attributes: Words = "";
    }
}
