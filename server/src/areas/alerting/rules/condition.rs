//! The condition of a rule: what a value is compared with, and how.

use crate::areas::alerting::error::Invalid;

/// When a rule fires.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::areas::alerting) enum Condition {
    /// A value compares in this way with the threshold, which is finite.
    Compares {
        /// How.
        operator: Operator,
        /// The threshold.
        threshold: f64,
    },
    /// There is no data in the window.
    Absent,
}

/// How a value is compared with a threshold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::areas::alerting) enum Operator {
    /// Greater than.
    Gt,
    /// Greater than or equal.
    Gte,
    /// Less than.
    Lt,
    /// Less than or equal.
    Lte,
    /// Equal.
    Eq,
    /// Not equal.
    Ne,
}

impl Condition {
    /// The name of [`Self::Absent`] in place of an operator.
    pub(in crate::areas::alerting) const ABSENT: &'static str = "absent";

    /// The only condition of a rule about received alerts, whose value is 1 while they fire.
    pub(super) const RECEIVED: Self = Self::Compares { operator: Operator::Gt, threshold: 0.0 };

    /// Validates the name of an operator and a threshold.
    pub(super) fn new(operator: &str, threshold: Option<f64>) -> Result<Self, Invalid> {
        let invalid = |expected: &str| Invalid::field("condition.threshold", expected);
        if operator == Self::ABSENT {
            return match threshold {
                None => Ok(Self::Absent),
                Some(_) => Err(invalid("must not be given if op is absent")),
            };
        }
        let found = Operator::ALL.into_iter().find(|known| known.as_str() == operator);
        let operator = found.ok_or_else(|| {
            let names = Operator::ALL.map(Operator::as_str).join(", ");
            let expected = format!("must be one of {names}, {}", Self::ABSENT);
            Invalid::field("condition.op", expected)
        })?;
        let threshold = threshold.ok_or_else(|| Invalid::missing("condition.threshold"))?;
        if !threshold.is_finite() {
            return Err(invalid("must be finite"));
        }
        Ok(Self::Compares { operator, threshold })
    }

    /// Returns the name of the operator.
    pub(in crate::areas::alerting) fn operator_name(self) -> &'static str {
        match self {
            Self::Compares { operator, .. } => operator.as_str(),
            Self::Absent => Self::ABSENT,
        }
    }

    /// Returns the threshold, if there is one.
    pub(in crate::areas::alerting) fn threshold(self) -> Option<f64> {
        match self {
            Self::Compares { threshold, .. } => Some(threshold),
            Self::Absent => None,
        }
    }

    /// Returns whether it waits for the absence of data.
    pub(in crate::areas::alerting) fn is_absent(self) -> bool {
        self == Self::Absent
    }

    /// Returns whether the condition is met by the value of a window; `None` without data.
    pub(in crate::areas::alerting) fn is_met(self, value: Option<f64>) -> bool {
        match (self, value) {
            (Self::Compares { operator, threshold }, Some(value)) => {
                operator.compares(value, threshold)
            }
            (Self::Compares { .. }, None) => false,
            (Self::Absent, value) => value.is_none(),
        }
    }
}

impl Condition {
    /// Returns whether the comparison has the same result however much a value grows: of a sum,
    /// some of the data may be missing.
    pub(in crate::areas::alerting) fn is_certain(self, value: f64) -> bool {
        match self {
            Self::Absent => true,
            Self::Compares { operator, threshold } => {
                let decides_at_threshold = matches!(operator, Operator::Gte | Operator::Lt);
                value > threshold || (value == threshold && decides_at_threshold)
            }
        }
    }
}

impl Operator {
    /// All operators.
    pub(in crate::areas::alerting) const ALL: [Self; 6] =
        [Self::Gt, Self::Gte, Self::Lt, Self::Lte, Self::Eq, Self::Ne];

    /// Returns the name in the API.
    pub(in crate::areas::alerting) fn as_str(self) -> &'static str {
        match self {
            Self::Gt => "gt",
            Self::Gte => "gte",
            Self::Lt => "lt",
            Self::Lte => "lte",
            Self::Eq => "eq",
            Self::Ne => "ne",
        }
    }

    /// Returns the sign for people.
    pub(in crate::areas::alerting) fn sign(self) -> &'static str {
        match self {
            Self::Gt => ">",
            Self::Gte => ">=",
            Self::Lt => "<",
            Self::Lte => "<=",
            Self::Eq => "=",
            Self::Ne => "!=",
        }
    }

    fn compares(self, value: f64, threshold: f64) -> bool {
        match self {
            Self::Gt => value > threshold,
            Self::Gte => value >= threshold,
            Self::Lt => value < threshold,
            Self::Lte => value <= threshold,
            Self::Eq => value == threshold,
            Self::Ne => value != threshold,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_compared_with_the_threshold() {
        for (operator, below, equal, above) in [
            (Operator::Gt, false, false, true),
            (Operator::Gte, false, true, true),
            (Operator::Lt, true, false, false),
            (Operator::Lte, true, true, false),
            (Operator::Eq, false, true, false),
            (Operator::Ne, true, false, true),
        ] {
            let condition = Condition::Compares { operator, threshold: 0.0 };
            for (value, expected) in [(-0.5, below), (0.0, equal), (-0.0, equal), (0.5, above)] {
                assert_eq!(condition.is_met(Some(value)), expected, "{value} {operator:?} 0");
            }
            assert!(!condition.is_met(None), "{operator:?} without data");
        }
    }

    #[test]
    fn a_condition_has_a_threshold_unless_data_is_absent() {
        for operator in Operator::ALL {
            let condition = Condition::new(operator.as_str(), Some(-1.5)).unwrap();
            assert_eq!(condition, Condition::Compares { operator, threshold: -1.5 });
            assert_eq!(condition.operator_name(), operator.as_str());
        }
        assert_eq!(Condition::new("absent", None), Ok(Condition::Absent));
        for (operator, threshold, field) in [
            ("absent", Some(0.0), "condition.threshold"),
            ("gt", None, "condition.threshold"),
            ("gt", Some(f64::NAN), "condition.threshold"),
            ("lt", Some(f64::INFINITY), "condition.threshold"),
            (">", Some(0.0), "condition.op"),
            ("GT", Some(0.0), "condition.op"),
        ] {
            assert_eq!(Condition::new(operator, threshold).unwrap_err().field, field);
        }
    }

    #[test]
    fn a_value_that_can_only_grow_is_certain_above_the_threshold() {
        for (operator, at_threshold) in [
            (Operator::Gt, false),
            (Operator::Gte, true),
            (Operator::Lt, true),
            (Operator::Lte, false),
            (Operator::Eq, false),
            (Operator::Ne, false),
        ] {
            let condition = Condition::Compares { operator, threshold: 5.0 };
            let certain = [4.0, 5.0, 6.0].map(|value| condition.is_certain(value));
            assert_eq!(certain, [false, at_threshold, true], "{operator:?}");
        }
    }

    #[test]
    fn only_a_window_without_data_is_absent() {
        assert!(Condition::Absent.is_met(None));
        assert!(!Condition::Absent.is_met(Some(0.0)));
    }
}
