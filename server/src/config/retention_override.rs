//! The retention of metrics by name prefix: a list of TOML tables.

use crate::platform::settings::{Period, Raw, SettingValue, quoted};

/// The retention of metrics with a name prefix; tiers that are not set keep the general retention.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RetentionOverride {
    /// The prefix of the names; the longest matching one applies.
    pub prefix: String,
    /// Raw samples.
    pub raw: Option<Period>,
    /// One-minute rollups.
    pub minute: Option<Period>,
    /// Five-minute rollups.
    pub five_minutes: Option<Period>,
    /// One-hour rollups.
    pub hour: Option<Period>,
    /// One-day rollups.
    pub day: Option<Period>,
}

impl RetentionOverride {
    fn from_table(fields: &[(String, Raw)]) -> Result<Self, String> {
        let mut one = Self::default();
        for (key, raw) in fields {
            let in_key = |reason: String| format!("{key}: {reason}");
            let tier = match key.as_str() {
                "prefix" => {
                    one.prefix = match raw {
                        Raw::Text(text) => text.clone(),
                        other => {
                            return Err(in_key(format!(
                                "expected a string, found {}",
                                other.type_name()
                            )));
                        }
                    };
                    continue;
                }
                "raw" => &mut one.raw,
                "minute" => &mut one.minute,
                "five_minutes" => &mut one.five_minutes,
                "hour" => &mut one.hour,
                "day" => &mut one.day,
                _ => {
                    return Err(format!(
                        "an override has no key {key}: it has prefix, raw, minute, five_minutes, hour and day"
                    ));
                }
            };
            *tier = Some(Period::read(raw).map_err(in_key)?);
        }
        if one.prefix.is_empty() {
            return Err("an override needs a prefix".to_owned());
        }
        Ok(one)
    }

    /// Returns the tiers by name, in the order of the reference.
    fn tiers(&self) -> [(&'static str, Option<Period>); 5] {
        [
            ("raw", self.raw),
            ("minute", self.minute),
            ("five_minutes", self.five_minutes),
            ("hour", self.hour),
            ("day", self.day),
        ]
    }
}

impl SettingValue for Vec<RetentionOverride> {
    const EXPECTS: &'static str = "tables such as [{ prefix = \"debug.\", raw = \"7d\" }]";
    const IS_LIST: bool = true;

    fn from_text(text: &str) -> Result<Self, String> {
        if text.is_empty() { Ok(Vec::new()) } else { Err(Self::mismatch(&format!("{text:?}"))) }
    }

    fn read(raw: &Raw) -> Result<Self, String> {
        let items = match raw {
            Raw::Text(text) => return Self::from_text(text),
            Raw::List(items) => items,
            other => return Err(Self::mismatch(other.type_name())),
        };
        let mut all: Self = Vec::with_capacity(items.len());
        for item in items {
            let Raw::Table(fields) = item else {
                return Err(<Self as SettingValue>::mismatch(item.type_name()));
            };
            let one = RetentionOverride::from_table(fields)?;
            if all.iter().any(|earlier| earlier.prefix == one.prefix) {
                return Err(format!("duplicate prefix {:?}", one.prefix));
            }
            all.push(one);
        }
        Ok(all)
    }

    fn to_toml(&self) -> String {
        let items: Vec<String> = self
            .iter()
            .map(|one| {
                let mut fields = vec![format!("prefix = {}", quoted(&one.prefix))];
                let tiers = one.tiers().into_iter();
                fields.extend(tiers.filter_map(|(name, period)| {
                    period.map(|period| format!("{name} = {}", period.to_toml()))
                }));
                format!("{{ {} }}", fields.join(", "))
            })
            .collect();
        format!("[{}]", items.join(", "))
    }
}
