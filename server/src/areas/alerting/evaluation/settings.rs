//! The settings of the evaluation of rules.

use crate::platform::settings::{Period, settings_section};

settings_section! {
    /// Alert rules and alerts.
    #[derive(Clone, Debug, PartialEq)]
    "alerting" EvaluationSettings {
        /// How often the alert rules are evaluated.
        evaluation_interval: Period = "15s";
        /// How long alerts are kept after their end, at most 50000 of them.
        keep_resolved: Period = "90d";
    }
}
