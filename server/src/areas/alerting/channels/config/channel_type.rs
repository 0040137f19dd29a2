//! The types of channels.

/// What a channel delivers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ChannelType {
    /// A chat with incoming webhooks as Slack has them.
    TeamChatA,
    /// A chat with webhooks as Discord has them.
    TeamChatB,
    /// A chat with workflows that accept adaptive cards, as Teams has them.
    TeamChatC,
    /// A paging service with the Events API v2 of PagerDuty.
    PagingA,
    /// A paging service with the Alert API of Opsgenie.
    PagingB,
    /// Email.
    Email,
    /// An HTTP endpoint of the user, with signed requests.
    Webhook,
}

impl ChannelType {
    /// All types.
    pub const ALL: [Self; 7] = [
        Self::TeamChatA,
        Self::PagingA,
        Self::Email,
        Self::Webhook,
        Self::TeamChatB,
        Self::TeamChatC,
        Self::PagingB,
    ];

    /// Returns the name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::TeamChatA => "team_chat_a",
            Self::TeamChatB => "team_chat_b",
            Self::TeamChatC => "team_chat_c",
            Self::PagingA => "paging_a",
            Self::PagingB => "paging_b",
            Self::Email => "email",
            Self::Webhook => "webhook",
        }
    }

    /// Returns whether it takes one event for each alert, and combines them by key.
    pub fn is_paging(self) -> bool {
        matches!(self, Self::PagingA | Self::PagingB)
    }

    /// Returns the type with this name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|channel_type| channel_type.as_str() == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_the_api() {
        let names = ChannelType::ALL.map(ChannelType::as_str);
        let expected = [
            "team_chat_a",
            "paging_a",
            "email",
            "webhook",
            "team_chat_b",
            "team_chat_c",
            "paging_b",
        ];
        assert_eq!(names, expected);
        for channel_type in ChannelType::ALL {
            assert_eq!(ChannelType::parse(channel_type.as_str()), Some(channel_type));
        }
        for name in ["", "Email", "slack", "team_chat_d", "email "] {
            assert_eq!(ChannelType::parse(name), None, "{name}");
        }
    }
}
