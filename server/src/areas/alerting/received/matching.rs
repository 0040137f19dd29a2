//! Finds the rules whose query matches a received alert.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use telltale_engine::{TagCondition, TagFilter};

use crate::areas::alerting::ledger::Directory;
use crate::areas::alerting::rules::{ReceivedQuery, Rule, RuleQuery};
use crate::platform::telemetry::query_params;

/// The label that names an alert.
const ALERT_NAME: &str = "alertname";

/// The enabled rules about received alerts, ready to be compared.
#[derive(Debug, Default)]
pub(super) struct Matchers {
    by_name: HashMap<String, Vec<Matcher>>,
    /// With the prefix of the names that match.
    by_prefix: Vec<(String, Matcher)>,
}

#[derive(Debug)]
struct Matcher {
    rule: Arc<Rule>,
    filters: Vec<TagFilter>,
}

impl Matchers {
    pub(super) fn new(directory: &Directory) -> Self {
        let mut matchers = Self::default();
        for rule in directory.rules.values().filter(|rule| rule.settings.enabled) {
            if let RuleQuery::Received(query) = &rule.settings.query {
                matchers.add(rule, query);
            }
        }
        matchers
    }

    fn add(&mut self, rule: &Arc<Rule>, query: &ReceivedQuery) {
        let filter = |(key, text): (&String, &String)| {
            let condition = query_params::tag_condition(text)?;
            Some(TagFilter { key: key.clone(), condition })
        };
        // The filters were validated before the rule was stored.
        let Some(filters) = query.tags.iter().map(filter).collect() else { return };
        let matcher = Matcher { rule: Arc::clone(rule), filters };
        match query.alert.strip_suffix('*') {
            Some(prefix) => self.by_prefix.push((prefix.to_owned(), matcher)),
            None => self.by_name.entry(query.alert.clone()).or_default().push(matcher),
        }
    }

    /// Returns all rules about received alerts.
    pub(super) fn rules(&self) -> impl Iterator<Item = &Arc<Rule>> {
        let exact = self.by_name.values().flatten();
        let prefixed = self.by_prefix.iter().map(|(_, matcher)| matcher);
        exact.chain(prefixed).map(|matcher| &matcher.rule)
    }

    /// Returns the rules that match an alert.
    pub(super) fn of<'a>(
        &'a self,
        labels: &'a BTreeMap<String, String>,
    ) -> impl Iterator<Item = &'a Arc<Rule>> {
        let name = labels.get(ALERT_NAME).map(String::as_str).unwrap_or_default();
        let exact = self.by_name.get(name).into_iter().flatten();
        let prefixed = self.by_prefix.iter().filter(move |(prefix, _)| name.starts_with(prefix));
        exact
            .chain(prefixed.map(|(_, matcher)| matcher))
            .filter(|matcher| matcher.filters.iter().all(|filter| is_met(filter, labels)))
            .map(|matcher| &matcher.rule)
    }
}

/// Returns the name of an alert.
pub(super) fn name_of(labels: &BTreeMap<String, String>) -> &str {
    labels.get(ALERT_NAME).map_or("received alert", String::as_str)
}

/// A label that is absent has the empty value.
fn is_met(filter: &TagFilter, labels: &BTreeMap<String, String>) -> bool {
    let value = labels.get(&filter.key).map(String::as_str).unwrap_or_default();
    match &filter.condition {
        TagCondition::AnyOf(values) => values.contains(value),
        TagCondition::NoneOf(values) => !values.contains(value),
        TagCondition::Prefix(prefix) => !value.is_empty() && value.starts_with(prefix),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filters_compare_labels_as_the_engine_compares_tags() {
        let labels = BTreeMap::from([("severity".to_owned(), "page".to_owned())]);
        for (key, text, expected) in [
            ("severity", "page", true),
            ("severity", "ticket,page", true),
            ("severity", "ticket", false),
            ("severity", "!ticket", true),
            ("severity", "!page", false),
            ("severity", "pa*", true),
            ("severity", "x*", false),
            ("team", "", true),
            ("team", "*", false),
            ("team", "!db", true),
            ("team", "db", false),
        ] {
            let condition = query_params::tag_condition(text).unwrap();
            let filter = TagFilter { key: key.to_owned(), condition };
            assert_eq!(is_met(&filter, &labels), expected, "{key} {text}");
        }
    }
}
