//! Validated configurations, one type for each kind of receiver.

use std::collections::BTreeMap;

use lettre::Address;
use telltale_engine::TimestampMs;

use super::channel_type::ChannelType;
use super::error::InvalidConfig;
use super::fields::{ConfigFields, ConfigPatch};
use super::recipients::recipients;
use super::urls::{BaseUrl, WebhookUrl};
use crate::areas::alerting::channels::signature::{PreviousSecret, SigningSecret};
use crate::areas::alerting::limits;
use crate::platform::outbound::{UserHeader, user_headers};
use crate::platform::redaction::{HIDDEN, Secret, redacted};

/// The configuration of a channel.
#[derive(Clone, Debug, PartialEq)]
pub enum ChannelConfig {
    TeamChatA(ChatConfig),
    TeamChatB(ChatConfig),
    TeamChatC(ChatConfig),
    PagingA(PagingAConfig),
    PagingB(PagingBConfig),
    Email(EmailConfig),
    Webhook(WebhookConfig),
}

/// The configuration of a chat.
#[derive(Clone, Debug, PartialEq)]
pub struct ChatConfig {
    /// Contains the credential in its path.
    pub webhook_url: WebhookUrl,
}

/// The configuration of a paging service of type A.
#[derive(Clone, Debug, PartialEq)]
pub struct PagingAConfig {
    pub routing_key: Secret,
}

/// The configuration of a paging service of type B.
#[derive(Clone, Debug, PartialEq)]
pub struct PagingBConfig {
    pub api_key: Secret,
    /// `None` for the address that the server uses by default.
    pub api_url: Option<BaseUrl>,
}

/// The configuration of an email channel.
#[derive(Clone, Debug, PartialEq)]
pub struct EmailConfig {
    /// Not empty.
    pub recipients: Vec<Address>,
}

/// The configuration of a webhook channel.
#[derive(Clone, Debug, PartialEq)]
pub struct WebhookConfig {
    pub webhook_url: WebhookUrl,
    pub headers: Vec<UserHeader>,
    pub signing_secret: SigningSecret,
    /// The secret before the last rotation.
    pub previous_secret: Option<PreviousSecret>,
}

impl ChannelConfig {
    /// Validates the fields of a new or stored configuration. `fresh_secret` becomes the signing
    /// secret of a webhook channel without one.
    pub fn new(
        channel_type: ChannelType,
        fields: ConfigFields,
        fresh_secret: &SigningSecret,
    ) -> Result<Self, InvalidConfig> {
        refuse_other_fields(channel_type, &fields)?;
        match channel_type {
            ChannelType::TeamChatA => chat(fields).map(Self::TeamChatA),
            ChannelType::TeamChatB => chat(fields).map(Self::TeamChatB),
            ChannelType::TeamChatC => chat(fields).map(Self::TeamChatC),
            ChannelType::PagingA => {
                let routing_key = key("routing_key", fields.routing_key)?;
                Ok(Self::PagingA(PagingAConfig { routing_key }))
            }
            ChannelType::PagingB => {
                let api_key = key("api_key", fields.api_key)?;
                let api_url = fields.api_url.map(|text| BaseUrl::parse(&text)).transpose();
                let api_url =
                    api_url.map_err(|expected| InvalidConfig::invalid("api_url", expected))?;
                Ok(Self::PagingB(PagingBConfig { api_key, api_url }))
            }
            ChannelType::Email => {
                let sent = fields.recipients.ok_or_else(|| InvalidConfig::missing("recipients"))?;
                Ok(Self::Email(EmailConfig { recipients: recipients(&sent)? }))
            }
            ChannelType::Webhook => webhook(fields, fresh_secret).map(Self::Webhook),
        }
    }

    /// Returns the configuration with a change. A secret that is sent exactly as [`Self::redacted`]
    /// returns it is unchanged; a signing secret that is cleared becomes `fresh_secret`.
    ///
    /// A change of the receiver's address must contain the secrets that are sent there: whoever may
    /// change channels may not read them.
    pub fn merged(
        &self,
        patch: ConfigPatch,
        fresh_secret: &SigningSecret,
    ) -> Result<Self, InvalidConfig> {
        let shown = self.redacted();
        let kept_secret = patch.kept_secret(&shown);
        let fields = patch.applied(self.revealed(), shown);
        let mut merged = Self::new(self.channel_type(), fields, fresh_secret)?;
        if let Some(name) = kept_secret
            && merged.receiver() != self.receiver()
        {
            let expected = "must be sent again with another address, which gets it";
            return Err(InvalidConfig::invalid(name, expected));
        }
        if let (Self::Webhook(old), Self::Webhook(new)) = (self, &mut merged) {
            new.previous_secret.clone_from(&old.previous_secret);
        }
        Ok(merged)
    }

    /// Returns the type.
    pub fn channel_type(&self) -> ChannelType {
        match self {
            Self::TeamChatA(_) => ChannelType::TeamChatA,
            Self::TeamChatB(_) => ChannelType::TeamChatB,
            Self::TeamChatC(_) => ChannelType::TeamChatC,
            Self::PagingA(_) => ChannelType::PagingA,
            Self::PagingB(_) => ChannelType::PagingB,
            Self::Email(_) => ChannelType::Email,
            Self::Webhook(_) => ChannelType::Webhook,
        }
    }

    /// Returns the server that gets the secrets of the configuration; `None` if it is that of the
    /// server's own settings.
    fn receiver(&self) -> Option<&str> {
        match self {
            Self::TeamChatA(chat) | Self::TeamChatB(chat) | Self::TeamChatC(chat) => {
                Some(chat.webhook_url.origin())
            }
            Self::Webhook(webhook) => Some(webhook.webhook_url.origin()),
            Self::PagingB(paging) => paging.api_url.as_ref().map(BaseUrl::as_str),
            Self::PagingA(_) | Self::Email(_) => None,
        }
    }

    /// Returns the fields as they are shown: no secret can be derived from them.
    pub fn redacted(&self) -> ConfigFields {
        let mut fields = self.revealed();
        match self {
            Self::TeamChatA(chat) | Self::TeamChatB(chat) | Self::TeamChatC(chat) => {
                fields.webhook_url = Some(chat.webhook_url.redacted_path());
            }
            Self::PagingA(paging) => fields.routing_key = Some(paging.routing_key.redacted()),
            Self::PagingB(paging) => fields.api_key = Some(paging.api_key.redacted()),
            Self::Email(_) => {}
            Self::Webhook(webhook) => {
                fields.webhook_url = Some(webhook.webhook_url.redacted_query());
                fields.headers = Some(webhook.headers(|value| value.redacted()));
                fields.signing_secret = Some(redacted(&webhook.signing_secret.reveal()));
            }
        }
        fields
    }

    /// Returns the fields with their secrets, to be sealed and stored. The previous signing secret
    /// of a webhook channel is not among them.
    pub fn revealed(&self) -> ConfigFields {
        let mut fields = ConfigFields::default();
        match self {
            Self::TeamChatA(chat) | Self::TeamChatB(chat) | Self::TeamChatC(chat) => {
                fields.webhook_url = Some(chat.webhook_url.reveal().to_owned());
            }
            Self::PagingA(paging) => {
                fields.routing_key = Some(paging.routing_key.reveal().to_owned());
            }
            Self::PagingB(paging) => {
                fields.api_key = Some(paging.api_key.reveal().to_owned());
                fields.api_url = paging.api_url.as_ref().map(|url| url.as_str().to_owned());
            }
            Self::Email(email) => {
                fields.recipients = Some(email.recipients.iter().map(Address::to_string).collect());
            }
            Self::Webhook(webhook) => {
                fields.webhook_url = Some(webhook.webhook_url.reveal().to_owned());
                fields.headers = Some(webhook.headers(|value| value.reveal().to_owned()));
                fields.signing_secret = Some(webhook.signing_secret.reveal());
            }
        }
        fields
    }
}

impl ChatConfig {
    /// Returns the URL that messages are sent to: that of the webhook, or its path and query at the
    /// server of `base`.
    pub fn url(&self, base: Option<&BaseUrl>) -> String {
        match base {
            None => self.webhook_url.reveal().to_owned(),
            Some(base) => self.webhook_url.at(base),
        }
    }
}

impl WebhookConfig {
    /// Replaces the signing secret. Requests are also signed with the old one until `valid_until`,
    /// so that the receiver can be changed meanwhile.
    pub fn rotate(&mut self, fresh_secret: SigningSecret, valid_until: TimestampMs) {
        let secret = std::mem::replace(&mut self.signing_secret, fresh_secret);
        self.previous_secret = Some(PreviousSecret { secret, valid_until });
    }

    /// Returns the secrets that requests at `now` are signed with, the current one first.
    pub fn secrets(&self, now: TimestampMs) -> Vec<&SigningSecret> {
        let previous = self.previous_secret.iter().filter(|previous| now < previous.valid_until);
        std::iter::once(&self.signing_secret).chain(previous.map(|p| &p.secret)).collect()
    }

    fn headers(&self, shown: impl Fn(&Secret) -> String) -> BTreeMap<String, String> {
        let pair = |header: &UserHeader| (header.name().to_owned(), shown(header.value()));
        self.headers.iter().map(pair).collect()
    }
}

/// Refuses a field that the type does not have, so that a typo in a type or field is not lost.
fn refuse_other_fields(
    channel_type: ChannelType,
    fields: &ConfigFields,
) -> Result<(), InvalidConfig> {
    use ChannelType::{Email, PagingA, PagingB, TeamChatA, TeamChatB, TeamChatC, Webhook};
    let owners: [(&str, bool, &[ChannelType]); 7] = [
        ("webhook_url", fields.webhook_url.is_some(), &[TeamChatA, TeamChatB, TeamChatC, Webhook]),
        ("headers", fields.headers.is_some(), &[Webhook]),
        ("signing_secret", fields.signing_secret.is_some(), &[Webhook]),
        ("routing_key", fields.routing_key.is_some(), &[PagingA]),
        ("api_key", fields.api_key.is_some(), &[PagingB]),
        ("api_url", fields.api_url.is_some(), &[PagingB]),
        ("recipients", fields.recipients.is_some(), &[Email]),
    ];
    for (name, is_sent, types) in owners {
        if is_sent && !types.contains(&channel_type) {
            let expected = format!("is not a field of {} channels", channel_type.as_str());
            return Err(InvalidConfig::invalid(name, expected));
        }
    }
    Ok(())
}

fn chat(fields: ConfigFields) -> Result<ChatConfig, InvalidConfig> {
    Ok(ChatConfig { webhook_url: webhook_url(fields.webhook_url)? })
}

fn webhook(
    fields: ConfigFields,
    fresh_secret: &SigningSecret,
) -> Result<WebhookConfig, InvalidConfig> {
    let signing_secret = match fields.signing_secret {
        None => fresh_secret.clone(),
        Some(text) => SigningSecret::parse(&text)
            .map_err(|invalid| InvalidConfig::invalid("signing_secret", invalid.to_string()))?,
    };
    Ok(WebhookConfig {
        webhook_url: webhook_url(fields.webhook_url)?,
        headers: fields.headers.map_or(Ok(Vec::new()), read_headers)?,
        signing_secret,
        previous_secret: None,
    })
}

/// Validates the headers of a webhook. The server sets the type of the body and the headers with
/// the signature.
pub(super) fn read_headers(
    sent: BTreeMap<String, String>,
) -> Result<Vec<UserHeader>, InvalidConfig> {
    let is_reserved = |name: &str| name == "content-type" || name.starts_with("webhook-");
    Ok(user_headers(sent, is_reserved)?)
}

fn webhook_url(sent: Option<String>) -> Result<WebhookUrl, InvalidConfig> {
    let text = sent.ok_or_else(|| InvalidConfig::missing("webhook_url"))?;
    WebhookUrl::parse(&text).map_err(|expected| InvalidConfig::invalid("webhook_url", expected))
}

/// Validates a key of a paging service.
fn key(name: &str, sent: Option<String>) -> Result<Secret, InvalidConfig> {
    let text = sent.ok_or_else(|| InvalidConfig::missing(name))?;
    if text.contains(HIDDEN) {
        let expected = format!("must be sent whole, or exactly as it is returned with {HIDDEN}");
        return Err(InvalidConfig::invalid(name, expected));
    }
    let max = limits::CHANNEL_KEY_CHARS_MAX;
    if !(1..=max).contains(&text.len()) || !text.bytes().all(|b| b.is_ascii_graphic()) {
        let expected = format!("must have 1 to {max} visible ASCII characters without spaces");
        return Err(InvalidConfig::invalid(name, expected));
    }
    Ok(Secret::new(text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::areas::alerting::channels::config::ConfigRule;

    const CHAT_URL: &str = "https://hooks.example/services/T0000/B0000/yyyyabcd";
    const ROUTING_KEY: &str = "0123456789abcdef0123456789abcdef";

    fn fresh() -> SigningSecret {
        SigningSecret::from_random([7; 32])
    }

    fn read(channel_type: ChannelType, fields: ConfigFields) -> Result<ChannelConfig, String> {
        ChannelConfig::new(channel_type, fields, &fresh()).map_err(|invalid| invalid.to_string())
    }

    fn text(text: &str) -> Option<String> {
        Some(text.to_owned())
    }

    fn map(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())).collect()
    }

    /// Returns valid fields of each type.
    fn valid(channel_type: ChannelType) -> ConfigFields {
        let none = ConfigFields::default();
        match channel_type {
            ChannelType::TeamChatA | ChannelType::TeamChatB | ChannelType::TeamChatC => {
                ConfigFields { webhook_url: text(CHAT_URL), ..none }
            }
            ChannelType::PagingA => ConfigFields { routing_key: text(ROUTING_KEY), ..none },
            ChannelType::PagingB => ConfigFields {
                api_key: text("0a1b2c3d-0a1b-2c3d-4e5f-0a1b2c3d4e5f"),
                api_url: text("https://api.eu.pager.example"),
                ..none
            },
            ChannelType::Email => {
                ConfigFields { recipients: Some(vec!["ann@example.com".to_owned()]), ..none }
            }
            ChannelType::Webhook => ConfigFields {
                webhook_url: text("https://a.example/hook?token=0123456789abcdef&x=1"),
                headers: Some(map(&[
                    ("Authorization", "Bearer 0123456789abcdef"),
                    ("X-B", "short"),
                ])),
                signing_secret: text("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"),
                ..none
            },
        }
    }

    #[test]
    fn what_is_read_is_stored_and_read_again() {
        for channel_type in ChannelType::ALL {
            let config = read(channel_type, valid(channel_type)).unwrap();
            assert_eq!(config.channel_type(), channel_type);
            assert!(config.revealed() == valid(channel_type), "{config:?}");
            assert_eq!(read(channel_type, config.revealed()), Ok(config));
        }
    }

    #[test]
    fn required_fields_are_required() {
        for (channel_type, field) in [
            (ChannelType::TeamChatA, "config.webhook_url"),
            (ChannelType::TeamChatB, "config.webhook_url"),
            (ChannelType::TeamChatC, "config.webhook_url"),
            (ChannelType::PagingA, "config.routing_key"),
            (ChannelType::PagingB, "config.api_key"),
            (ChannelType::Email, "config.recipients"),
            (ChannelType::Webhook, "config.webhook_url"),
        ] {
            let refused = ChannelConfig::new(channel_type, ConfigFields::default(), &fresh());
            let refused = refused.unwrap_err();
            assert_eq!((refused.rule, refused.field.as_str()), (ConfigRule::Missing, field));
        }
    }

    #[test]
    fn a_type_has_only_its_own_fields() {
        for channel_type in ChannelType::ALL {
            for other in ChannelType::ALL {
                let fields = valid(other);
                let own = valid(channel_type);
                let both = ConfigFields {
                    webhook_url: own.webhook_url.or(fields.webhook_url),
                    headers: own.headers.or(fields.headers),
                    signing_secret: own.signing_secret.or(fields.signing_secret),
                    routing_key: own.routing_key.or(fields.routing_key),
                    api_key: own.api_key.or(fields.api_key),
                    api_url: own.api_url.or(fields.api_url),
                    recipients: own.recipients.or(fields.recipients),
                };
                let has_more = both != valid(channel_type);
                assert_eq!(
                    read(channel_type, both).is_err(),
                    has_more,
                    "{channel_type:?} {other:?}"
                );
            }
        }
        let refused = read(ChannelType::Email, valid(ChannelType::PagingA)).unwrap_err();
        assert_eq!(refused, "config.routing_key is not a field of email channels");
    }

    #[test]
    fn keys_are_visible_ascii() {
        let expected = "must have 1 to 255 visible ASCII characters without spaces";
        let longest = "k".repeat(255);
        let too_long = "k".repeat(256);
        for (key, is_valid) in [
            ("k", true),
            ("!~", true),
            (longest.as_str(), true),
            (too_long.as_str(), false),
            ("", false),
            ("a b", false),
            ("a\nb", false),
            ("é", false),
        ] {
            let paging_a = ConfigFields { routing_key: text(key), ..ConfigFields::default() };
            let paging_b = ConfigFields { api_key: text(key), ..ConfigFields::default() };
            for (channel_type, field, fields) in [
                (ChannelType::PagingA, "routing_key", paging_a),
                (ChannelType::PagingB, "api_key", paging_b),
            ] {
                let read = read(channel_type, fields).map(drop);
                let refused = format!("config.{field} {expected}");
                assert_eq!(read, if is_valid { Ok(()) } else { Err(refused) }, "{key:?}");
            }
        }
    }

    #[test]
    fn a_webhook_gets_a_secret_and_no_headers_by_default() {
        let fields = ConfigFields { webhook_url: text("https://a.example/"), ..Default::default() };
        let Ok(ChannelConfig::Webhook(config)) = read(ChannelType::Webhook, fields) else {
            panic!("the configuration is valid");
        };
        assert_eq!((config.signing_secret, config.headers), (fresh(), Vec::new()));
        let bad =
            ConfigFields { signing_secret: text("whsec_AAAA"), ..valid(ChannelType::Webhook) };
        let refused = read(ChannelType::Webhook, bad).unwrap_err();
        assert!(refused.starts_with("config.signing_secret must be whsec_ "), "{refused}");
    }

    #[test]
    fn secrets_are_redacted() {
        for (channel_type, expected) in [
            (
                ChannelType::TeamChatA,
                ConfigFields {
                    webhook_url: text("https://hooks.example/…abcd"),
                    ..Default::default()
                },
            ),
            (
                ChannelType::PagingA,
                ConfigFields { routing_key: text("…cdef"), ..Default::default() },
            ),
            (
                ChannelType::PagingB,
                ConfigFields { api_key: text("…4e5f"), ..valid(ChannelType::PagingB) },
            ),
            (ChannelType::Email, valid(ChannelType::Email)),
            (
                ChannelType::Webhook,
                ConfigFields {
                    webhook_url: text("https://a.example/hook?token=…cdef&x=…"),
                    headers: Some(map(&[("Authorization", "…cdef"), ("X-B", "…")])),
                    signing_secret: text("…LaSw"),
                    ..Default::default()
                },
            ),
        ] {
            let config = read(channel_type, valid(channel_type)).unwrap();
            assert!(config.redacted() == expected, "{channel_type:?}");
            let debug = format!("{config:?}");
            assert!(!debug.contains("0123") && !debug.contains("T0000"), "{debug}");
        }
    }

    #[test]
    fn a_config_sent_back_as_shown_is_unchanged() {
        for channel_type in ChannelType::ALL {
            let old = read(channel_type, valid(channel_type)).unwrap();
            let shown = old.redacted();
            let patch = ConfigPatch {
                webhook_url: shown.webhook_url.map(Some),
                headers: shown.headers.map(Some),
                signing_secret: shown.signing_secret.map(Some),
                routing_key: shown.routing_key.map(Some),
                api_key: shown.api_key.map(Some),
                api_url: shown.api_url.map(Some),
                recipients: shown.recipients.map(Some),
            };
            assert_eq!(old.merged(patch, &fresh()), Ok(old.clone()));
            assert_eq!(old.merged(ConfigPatch::default(), &fresh()), Ok(old));
        }
    }

    #[test]
    fn headers_are_replaced_and_keep_redacted_values() {
        let old = read(ChannelType::Webhook, valid(ChannelType::Webhook)).unwrap();
        let merged = |headers: Option<BTreeMap<String, String>>| {
            let patch = ConfigPatch { headers: Some(headers), ..Default::default() };
            let merged = old.merged(patch, &fresh()).map_err(|invalid| invalid.to_string());
            merged.map(|config| config.revealed().headers.unwrap())
        };
        let new = map(&[("authorization", "…cdef"), ("X-New", "n")]);
        let expected = map(&[("authorization", "Bearer 0123456789abcdef"), ("X-New", "n")]);
        assert_eq!(merged(Some(new)), Ok(expected));
        assert_eq!(merged(None), Ok(BTreeMap::new()));
        // The redacted value of another header.
        for headers in [map(&[("X-New", "…cdef")]), map(&[("X-B", "…cdef")])] {
            let refused = merged(Some(headers)).unwrap_err();
            assert!(refused.contains("exactly as it is returned"), "{refused}");
        }
    }

    #[test]
    fn another_address_does_not_get_the_secrets_of_the_old_one() {
        let old = read(ChannelType::Webhook, valid(ChannelType::Webhook)).unwrap();
        let moved = |headers| ConfigPatch {
            webhook_url: Some(text("https://b.example/hook")),
            headers,
            ..Default::default()
        };
        let shown = old.redacted().headers;
        let sent = old.revealed().headers;
        for headers in [None, Some(shown)] {
            let refused = old.merged(moved(headers), &fresh()).unwrap_err();
            assert_eq!(refused.field, "config.headers");
        }
        for headers in [Some(sent), Some(None)] {
            assert!(old.merged(moved(headers), &fresh()).is_ok());
        }
        let same = ConfigPatch { webhook_url: Some(text("https://a.example/b")), ..moved(None) };
        assert!(old.merged(same, &fresh()).is_ok(), "the same server has them already");
        let old = read(ChannelType::PagingB, valid(ChannelType::PagingB)).unwrap();
        for api_url in [text("https://b.example"), None] {
            let patch = ConfigPatch { api_url: Some(api_url), ..Default::default() };
            assert_eq!(old.merged(patch, &fresh()).unwrap_err().field, "config.api_key");
        }
    }

    #[test]
    fn changes_are_validated_and_clear_only_optional_fields() {
        let old = read(ChannelType::PagingB, valid(ChannelType::PagingB)).unwrap();
        let api_key = Some(text("ffffffff-0a1b-2c3d-4e5f-0a1b2c3d4e5f"));
        let cleared = ConfigPatch { api_url: Some(None), api_key, ..Default::default() };
        assert_eq!(old.merged(cleared, &fresh()).unwrap().revealed().api_url, None);
        for (patch, expected) in [
            (
                ConfigPatch { api_key: Some(None), ..Default::default() },
                "config.api_key is required",
            ),
            (
                ConfigPatch { api_key: Some(text("…4e5e")), ..Default::default() },
                "config.api_key must be sent whole, or exactly as it is returned with …",
            ),
            (
                ConfigPatch { routing_key: Some(text("k")), ..Default::default() },
                "config.routing_key is not a field of paging_b channels",
            ),
            (
                ConfigPatch { api_url: Some(text("https://a.example/?b")), ..Default::default() },
                "config.api_url must not have a query",
            ),
        ] {
            assert_eq!(old.merged(patch, &fresh()).unwrap_err().to_string(), expected);
        }
    }

    #[test]
    fn a_rotated_secret_is_valid_for_a_while() {
        let valid = read(ChannelType::Webhook, valid(ChannelType::Webhook));
        let Ok(ChannelConfig::Webhook(mut config)) = valid else { panic!("the config is valid") };
        let old = config.signing_secret.clone();
        assert_eq!(config.secrets(TimestampMs(0)), [&old]);
        config.rotate(fresh(), TimestampMs(1_000));
        for (now, expected) in
            [(0, vec![&fresh(), &old]), (999, vec![&fresh(), &old]), (1_000, vec![&fresh()])]
        {
            assert_eq!(config.secrets(TimestampMs(now)), expected);
        }
        let config = ChannelConfig::Webhook(config);
        let merged = config.merged(ConfigPatch::default(), &fresh());
        assert_eq!(merged, Ok(config), "a change keeps the previous secret");
    }
}
