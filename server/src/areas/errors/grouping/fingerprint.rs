//! Substitutes variables in fingerprints, as documented by Sentry: `{{ transaction }}`, `{{
//! error.type }}`, `{{ tags.region }}` and others.
//!
//! A variable is replaced by the value of the occurrence, or by a fixed string such as
//! `<no-transaction>` if it has none. It may be a whole part of a fingerprint or occur inside one.
//! Unknown variables are left unchanged.

use super::super::occurrence::{Frame, Occurrence};

/// Returns whether the part is `{{ default }}` alone.
pub(super) fn is_default(part: &str) -> bool {
    variable(part.trim()).is_some_and(|(name, rest)| name == "default" && rest.is_empty())
}

/// Returns a part of a fingerprint with its variables substituted. `default` returns the hash by
/// the other rules.
pub(super) fn expanded(
    part: &str,
    occurrence: &Occurrence<'_>,
    default: &dyn Fn() -> String,
) -> String {
    let mut out = String::new();
    let mut rest = part;
    while let Some(at) = rest.find("{{") {
        let (before, from) = rest.split_at_checked(at).unwrap_or((rest, ""));
        out.push_str(before);
        let found = variable(from).and_then(|(name, after)| {
            let value = match name {
                "default" => default(),
                name => value(name, occurrence)?,
            };
            Some((value, after))
        });
        match found {
            Some((value, after)) => {
                out.push_str(&value);
                rest = after;
            }
            None => {
                out.push_str("{{");
                rest = from.strip_prefix("{{").unwrap_or_default();
            }
        }
    }
    out.push_str(rest);
    out
}

/// Returns the name of the variable at the beginning of a string, and the rest of the string.
fn variable(text: &str) -> Option<(&str, &str)> {
    let (name, after) = text.strip_prefix("{{")?.split_once("}}")?;
    let name = name.trim();
    let is_name = !name.is_empty() && !name.contains(|c: char| c.is_whitespace() || c == '{');
    is_name.then_some((name, after))
}

/// Returns the value of a variable; `None` if there is no such variable.
fn value(name: &str, occurrence: &Occurrence<'_>) -> Option<String> {
    if let Some(tag) = name.strip_prefix("tags.") {
        let value = tag_value(tag, occurrence);
        return Some(value.unwrap_or_else(|| format!("<no-value-for-tag-{tag}>")));
    }
    let raised = occurrence.raised();
    let frame = || crash_frame(occurrence);
    let (value, placeholder) = match name {
        "transaction" => (occurrence.transaction.as_deref(), "<no-transaction>"),
        "message" => {
            let message = occurrence.message.as_deref().or(occurrence.template.as_deref());
            let message = message.or_else(|| raised.and_then(|raised| raised.value.as_deref()));
            (message, "<no-message>")
        }
        "error.type" | "type" => (raised.and_then(|raised| raised.kind.as_deref()), "<no-type>"),
        "error.value" | "value" => {
            (raised.and_then(|raised| raised.value.as_deref()), "<no-value>")
        }
        "stack.function" | "function" => {
            (frame().and_then(|frame| frame.function.as_deref()), "<no-function>")
        }
        "stack.module" | "module" => {
            (frame().and_then(|frame| frame.module.as_deref()), "<no-module>")
        }
        "stack.abs_path" | "path" => {
            let path =
                frame().and_then(|frame| frame.abs_path.as_deref().or(frame.filename.as_deref()));
            (path, "<no-abs-path>")
        }
        "stack.filename" => {
            let path =
                frame().and_then(|frame| frame.filename.as_deref().or(frame.abs_path.as_deref()));
            (path, "<no-filename>")
        }
        "stack.package" | "package" => {
            let package = frame().and_then(|frame| frame.package.as_deref());
            (package.and_then(|package| package.rsplit(['/', '\\']).next()), "<no-package>")
        }
        "level" => (Some(occurrence.level.as_str()), "<no-level>"),
        "logger" => (occurrence.logger.as_deref(), "<no-logger>"),
        "release" => (occurrence.release.as_deref(), "<no-release>"),
        "environment" => (occurrence.environment.as_deref(), "<no-environment>"),
        _ => return None,
    };
    Some(value.unwrap_or(placeholder).to_owned())
}

/// Returns the value of a tag. Like Sentry, treats some fields of the event as tags.
fn tag_value(tag: &str, occurrence: &Occurrence<'_>) -> Option<String> {
    let sent = occurrence.tags.iter().find(|(key, _)| key == tag).map(|(_, value)| &**value);
    let value = sent.or(match tag {
        "environment" => occurrence.environment.as_deref(),
        "release" => occurrence.release.as_deref(),
        "dist" => occurrence.dist.as_deref(),
        "level" => Some(occurrence.level.as_str()),
        "logger" => occurrence.logger.as_deref(),
        "server_name" => occurrence.server_name.as_deref(),
        "transaction" => occurrence.transaction.as_deref(),
        _ => None,
    });
    value.map(str::to_owned)
}

/// Returns the frame of the error: the newest one of the program itself, or else the newest one.
fn crash_frame<'o>(occurrence: &'o Occurrence<'_>) -> Option<&'o Frame<'o>> {
    let raised = occurrence.raised().map(|raised| &raised.frames);
    let frames = raised.filter(|frames| !frames.is_empty()).unwrap_or(&occurrence.frames);
    frames.iter().rev().find(|frame| frame.is_in_app()).or(frames.last())
}

#[cfg(test)]
mod tests {
    use super::super::super::occurrence::Exception;
    use super::*;

    #[test]
    fn variables_are_replaced_by_values_of_the_occurrence() {
        let frame = Frame {
            function: Some("load".into()),
            module: Some("shop.cart".into()),
            abs_path: Some("/srv/app/cart.py".into()),
            package: Some("/usr/lib/libcart.so".into()),
            in_app: Some(true),
            ..Frame::default()
        };
        let raised = Exception {
            kind: Some("KeyError".into()),
            value: Some("'a'".into()),
            frames: vec![frame],
            ..Exception::default()
        };
        let occurrence = Occurrence {
            transaction: Some("GET /cart".into()),
            logger: Some("shop".into()),
            environment: Some("prod".into()),
            tags: vec![("region".into(), "eu".into())],
            exceptions: vec![raised],
            ..Occurrence::default()
        };
        for (part, expected) in [
            ("{{ transaction }}", "GET /cart"),
            ("{{transaction}}", "GET /cart"),
            ("{{ error.type }}", "KeyError"),
            ("{{ type }}", "KeyError"),
            ("{{ error.value }}", "'a'"),
            ("{{ message }}", "'a'"),
            ("{{ level }}", "error"),
            ("{{ logger }}", "shop"),
            ("{{ tags.region }}", "eu"),
            ("{{ tags.environment }}", "prod"),
            ("{{ tags.color }}", "<no-value-for-tag-color>"),
            ("{{ stack.function }}", "load"),
            ("{{ stack.module }}", "shop.cart"),
            ("{{ stack.abs_path }}", "/srv/app/cart.py"),
            ("{{ stack.package }}", "libcart.so"),
            ("{{ release }}", "<no-release>"),
            ("{{ default }}", "D"),
            ("db-{{ error.type }}-{{ tags.region }}!", "db-KeyError-eu!"),
            ("{{ unknown }}", "{{ unknown }}"),
            ("{{ two words }}", "{{ two words }}"),
            ("{{ {{ level }}", "{{ error"),
            ("{{", "{{"),
            ("plain", "plain"),
        ] {
            assert_eq!(expanded(part, &occurrence, &|| "D".to_owned()), expected, "{part}");
        }
        let empty = Occurrence::default();
        assert_eq!(expanded("{{ stack.function }}", &empty, &String::new), "<no-function>");
        assert!(is_default("{{ default }}") && is_default("{{default}}"));
        assert!(!is_default("{{ default }} x") && !is_default("default"));
    }
}
