//! The settings of error tracking.

use crate::limits;
use crate::platform::settings::{Auto, Words, settings_section};

settings_section! {
    /// Limits of stored errors, and the removal of sensitive data.
    #[derive(Clone, Debug, PartialEq, Eq)]
    "errors" ErrorSettings {
        /// Maximum number of groups. When it is reached, groups of the key that recently created
        /// most of them are deleted: resolved and ignored ones first, then those not seen for the
        /// longest time. Until then, errors that would need a new group are collected in one group
        /// per key. Groups that are assigned or merged, have a note or a reason, or were reopened,
        /// are kept, up to half of the maximum: beyond that, the keys with most of them lose those
        /// not seen for the longest time. Comments alone do not keep a group.
        /// `auto` is the number that fits into a twentieth of `memory.limit` at 1 KiB each, at most
        /// 100000: 13107 with a limit of 256 MiB. In addition, the sets of their users take a
        /// sixty-fourth of the limit, at most 32 MiB; other sets are read from disk.
        groups_max: Auto<usize> = "auto";
        /// Maximum number of groups that the errors of one key may create in an hour; further
        /// errors are collected in one group of the key.
        new_groups_per_hour: u64 = "1_000";
        /// The values of keys that contain one of these words, in any case, are not stored; a word
        /// of up to four letters must be a whole word of the key. Such values are also removed from
        /// strings (`key=value`, `key: 'value'`), and so are credentials of well-known formats.
        scrub_keys: Words = "password,passwd,passphrase,pwd,secret,token,authorization,cookie,api_key,api-key,apikey,credential,private_key,session_id,sessionid,csrf,auth,jwt";
    }
}

impl ErrorSettings {
    /// Returns the maximum number of groups.
    pub(super) fn groups_max(&self) -> usize {
        self.groups_max.set().unwrap_or(limits::ERROR_GROUPS_AUTO_MAX as usize)
    }
}
