//! Check of query parameters against the route's documentation, so that the OpenAPI document and
//! the check cannot disagree. An undeclared name is refused before the handler runs, with the most
//! similar declared name as a suggestion.
//!
//! A declared `tags[key]` accepts any name of the form `tags[<key>]`. Routes for third-party
//! protocols ([`QueryRule::Any`]) are not checked.

use super::error::{ApiError, ApiResult};
use super::query::Query;
use super::route::{QueryRule, Route};
use super::route_doc::{Param, Place};
use crate::limits;
use crate::platform::nearest::nearest;

/// Refuses a query string with a parameter that the route does not declare.
pub(super) fn check(route: &Route, query: &Query) -> ApiResult<()> {
    if route.query == QueryRule::Any {
        return Ok(());
    }
    let unknown = query.iter().map(|(name, _)| name).find(|name| !is_known(route, name));
    unknown.map_or(Ok(()), |name| Err(refusal(route, name)))
}

fn is_known(route: &Route, name: &str) -> bool {
    declared(route).any(|param| match family(param.name) {
        Some(family) => key_in(name).is_some_and(|(sent, _)| sent == family),
        None => param.name == name,
    })
}

fn declared(route: &Route) -> impl Iterator<Item = &'static Param> + use<> {
    route.doc.parameters.iter().filter(|param| param.place == Place::Query)
}

/// Returns `tags` for `tags[key]`.
pub(super) fn family(declared: &'static str) -> Option<&'static str> {
    key_in(declared).map(|(family, _)| family)
}

/// Splits `name[key]`.
fn key_in(name: &str) -> Option<(&str, &str)> {
    name.strip_suffix(']')?.split_once('[')
}

fn refusal(route: &Route, name: &str) -> ApiError {
    let shown: String = name.chars().take(limits::PARAMETER_NAME_SHOWN_CHARS_MAX).collect();
    // The key in the brackets is the caller's own, so the suggestion repeats it.
    let candidates = declared(route).map(|param| match (family(param.name), key_in(&shown)) {
        (Some(family), Some((_, key))) => format!("{family}[{key}]"),
        _ => param.name.to_owned(),
    });
    let candidates: Vec<String> = candidates.collect();
    let lower = shown.to_lowercase();
    let hint = match nearest(&lower, candidates.iter().map(String::as_str)) {
        Some(name) => format!("did you mean {name}?"),
        None if candidates.is_empty() => "it takes none".to_owned(),
        None => format!("it takes {}", candidates.join(", ")),
    };
    let expected = format!("is not a query parameter of this route ({hint})");
    ApiError::parameter(shown, expected)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::app::App;
    use crate::http::{Doc, ErrorCode, Request, Response};

    async fn nothing(_: Arc<App>, _: Request) -> ApiResult<Response> {
        Response::ok(&())
    }

    const DOC: Doc = Doc::new("T", "t").parameters(&[
        Param::path("name", "A name."),
        Param::query("from", "A time."),
        Param::query("interval", "A width."),
        Param::query("tags[key]", "A condition."),
    ]);
    static ROUTE: Route = Route::get("/t/{name}", &nothing).doc(DOC);
    static BARE: Route = Route::get("/t", &nothing);
    static OPEN: Route = Route::get("/t", &nothing).any_query();

    #[track_caller]
    fn check_query(route: &Route, text: &str) -> Result<(), String> {
        check(route, &Query::parse(text).unwrap()).map_err(|error| {
            assert_eq!(error.code(), ErrorCode::InvalidParameter, "{text}");
            error.message().to_owned()
        })
    }

    #[test]
    fn declared_parameters_and_families_are_accepted() {
        for text in
            ["", "from=1", "from=1&from=2", "tags[a]=1&tags%5Bb%5D=2", "tags[a[b]]=1", "tags[]=1"]
        {
            assert_eq!(check_query(&ROUTE, text), Ok(()), "{text}");
        }
        assert_eq!(check_query(&OPEN, "anything=1&name=2"), Ok(()));
    }

    #[test]
    fn an_undeclared_parameter_is_refused_with_the_most_similar_declared_one() {
        for (text, hint) in [
            ("form=1", "did you mean from?"),
            ("Interval=1m", "did you mean interval?"),
            ("tag[host]=a", "did you mean tags[host]?"),
            ("tags=a", "did you mean tags[key]?"),
            ("from=1&name=x", "it takes from, interval, tags[key]"),
            ("environment=x", "it takes from, interval, tags[key]"),
            ("tags[a=1", "did you mean tags[key]?"),
        ] {
            let message = check_query(&ROUTE, text).unwrap_err();
            assert!(message.contains(hint), "{text}: {message}");
        }
        let message = check_query(&BARE, "a=1").unwrap_err();
        assert_eq!(message, "a is not a query parameter of this route (it takes none)");
    }

    #[test]
    fn a_long_parameter_name_is_truncated_in_the_message() {
        let message = check_query(&BARE, &"x".repeat(5_000)).unwrap_err();
        assert!(message.len() < 300, "{}", message.len());
    }
}
