//! The documentation of a route, written in the route table and used for the OpenAPI document.

use schemars::{JsonSchema, Schema, SchemaGenerator};

use super::error::ErrorCode;
use super::route::Method;

/// Generates the schema of one type; the generator collects the types that it refers to.
pub type SchemaOf = fn(&mut SchemaGenerator) -> Schema;

/// The documentation of one route.
#[derive(Clone, Copy, Debug)]
pub struct Doc {
    /// The area, used as a heading.
    pub tag: &'static str,
    /// What the route does, in one line.
    pub summary: &'static str,
    /// Details in CommonMark; empty if the summary suffices.
    pub description: &'static str,
    /// Query parameters, and path parameters that need an explanation.
    pub parameters: &'static [Param],
    /// The request body.
    pub request: Option<BodyDoc>,
    /// The success response.
    pub answer: Answer,
    /// A second encoding of request and response, if the route supports one.
    pub twin: Option<Twin>,
    /// Error codes specific to the route, in addition to those common to all routes.
    pub errors: &'static [ErrorCode],
    /// Operations that can follow, with parameters taken from the response.
    pub links: &'static [Link],
    /// Whether the response may also be 202, with the same body, because the work goes on.
    pub may_be_accepted: bool,
    /// Whether the resource has an `ETag`: reads return it, changes honour `If-Match`.
    pub versioned: bool,
    /// Whether the route is an extension of the service's contract.
    pub extension: bool,
}

/// A request body.
#[derive(Clone, Copy, Debug)]
pub struct BodyDoc {
    /// The media type.
    pub media: &'static str,
    /// The schema.
    pub schema: SchemaOf,
    /// Whether the body is required.
    pub required: bool,
    /// An example body with which the call succeeds; empty if there is none.
    pub example: &'static str,
}

/// A second encoding of bodies. A response has the encoding of its request.
#[derive(Clone, Copy, Debug)]
pub struct Twin {
    /// The media type.
    pub media: &'static str,
    /// The schema of the request body.
    pub request: SchemaOf,
    /// The schema of the response body.
    pub answer: SchemaOf,
}

/// An OpenAPI link from a response to an operation that can follow.
#[derive(Clone, Copy, Debug)]
pub struct Link {
    /// The method of the target route.
    pub method: Method,
    /// The path of the target route.
    pub path: &'static str,
    /// The path parameter whose value the response contains.
    pub parameter: &'static str,
    /// The JSON pointer to the value in the response.
    pub pointer: &'static str,
    /// The path parameter that keeps its value from the request; empty if there is none.
    pub outer: &'static str,
}

impl Link {
    /// Returns a link to the `GET` of this path, whose `parameter` the response contains at
    /// `pointer`.
    pub const fn get(path: &'static str, parameter: &'static str, pointer: &'static str) -> Self {
        Self { method: Method::Get, path, parameter, pointer, outer: "" }
    }

    /// Sets the path parameter that the target shares with the request.
    #[must_use]
    pub const fn within(mut self, outer: &'static str) -> Self {
        self.outer = outer;
        self
    }
}

/// A success response.
#[derive(Clone, Copy, Debug)]
pub struct Answer {
    /// The HTTP status.
    pub status: u16,
    /// The media type; empty if there is no body.
    pub media: &'static str,
    /// The schema of the body, if there is one.
    pub schema: Option<SchemaOf>,
}

impl Doc {
    /// Empty documentation.
    pub const EMPTY: Self = Self::new("", "");

    /// Returns documentation with the route's area and a one-line summary.
    pub const fn new(tag: &'static str, summary: &'static str) -> Self {
        Self {
            tag,
            summary,
            description: "",
            parameters: &[],
            request: None,
            answer: Answer { status: 200, media: "application/json", schema: None },
            twin: None,
            errors: &[],
            links: &[],
            may_be_accepted: false,
            versioned: false,
            extension: false,
        }
    }

    /// Sets the description, in CommonMark.
    #[must_use]
    pub const fn about(mut self, description: &'static str) -> Self {
        self.description = description;
        self
    }

    /// Sets the query parameters.
    #[must_use]
    pub const fn parameters(mut self, parameters: &'static [Param]) -> Self {
        self.parameters = parameters;
        self
    }

    /// Sets the type of a required JSON request body; `example` is a body with which the call
    /// succeeds.
    #[must_use]
    pub const fn request<T: JsonSchema>(self, example: &'static str) -> Self {
        self.body(BodyDoc {
            media: "application/json",
            schema: SchemaGenerator::subschema_for::<T>,
            required: true,
            example,
        })
    }

    /// Sets the type of an optional JSON request body.
    #[must_use]
    pub const fn optional_request<T: JsonSchema>(self, example: &'static str) -> Self {
        self.body(BodyDoc {
            media: "application/json",
            schema: SchemaGenerator::subschema_for::<T>,
            required: false,
            example,
        })
    }

    /// Sets a request body of another media type.
    #[must_use]
    pub const fn body(mut self, body: BodyDoc) -> Self {
        self.request = Some(body);
        self
    }

    /// Declares status 200 with this body.
    #[must_use]
    pub const fn ok<T: JsonSchema>(self) -> Self {
        self.answers::<T>(200)
    }

    /// Declares status 201 with this body.
    #[must_use]
    pub const fn created<T: JsonSchema>(self) -> Self {
        self.answers::<T>(201)
    }

    /// Declares status 202 with this body.
    #[must_use]
    pub const fn accepted<T: JsonSchema>(self) -> Self {
        self.answers::<T>(202)
    }

    /// Declares that the response may also be 202, with the same body.
    #[must_use]
    pub const fn or_accepted(mut self) -> Self {
        self.may_be_accepted = true;
        self
    }

    /// Declares status 204, which has no body.
    #[must_use]
    pub const fn no_content(mut self) -> Self {
        self.answer = Answer { status: 204, media: "", schema: None };
        self
    }

    /// Declares status 200 with a body of another media type and this schema.
    #[must_use]
    pub const fn encoded(mut self, media: &'static str, schema: SchemaOf) -> Self {
        self.answer = Answer { status: 200, media, schema: Some(schema) };
        self
    }

    /// Declares status 200 with a body of another media type.
    #[must_use]
    pub const fn media(mut self, media: &'static str) -> Self {
        self.answer.media = media;
        self
    }

    /// Sets the error codes specific to the route.
    #[must_use]
    pub const fn errors(mut self, errors: &'static [ErrorCode]) -> Self {
        self.errors = errors;
        self
    }

    /// Declares a second encoding of request and response.
    #[must_use]
    pub const fn twin(mut self, twin: Twin) -> Self {
        self.twin = Some(twin);
        self
    }

    /// Sets the operations that can follow.
    #[must_use]
    pub const fn links(mut self, links: &'static [Link]) -> Self {
        self.links = links;
        self
    }

    /// Declares that the resource has an `ETag`: reads return it, changes honour `If-Match`.
    #[must_use]
    pub const fn versioned(mut self) -> Self {
        self.versioned = true;
        self
    }

    /// Marks the route as an extension of the contract.
    #[must_use]
    pub const fn ext(mut self) -> Self {
        self.extension = true;
        self
    }

    const fn answers<T: JsonSchema>(mut self, status: u16) -> Self {
        self.answer.status = status;
        self.answer.schema = Some(SchemaGenerator::subschema_for::<T>);
        self
    }
}

/// A path or query parameter.
#[derive(Clone, Copy, Debug)]
pub struct Param {
    /// The name; `tags[key]` accepts any key.
    pub name: &'static str,
    /// The meaning, and the behaviour if the parameter is absent.
    pub about: &'static str,
    /// The location of the parameter.
    pub place: Place,
    /// The accepted values.
    pub form: Form,
    /// Whether the parameter is required.
    pub required: bool,
    /// An example value.
    pub example: &'static str,
}

/// The location of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// In the path.
    Path,
    /// In the query string.
    Query,
}

/// The values that a parameter accepts.
#[derive(Clone, Copy, Debug)]
pub enum Form {
    /// Any string.
    Text,
    /// A time: RFC 3339, a date, seconds or milliseconds since 1970, or relative to now.
    Time,
    /// A time, or a duration before now: `30m`, `24h`, `7d`, `2w`.
    Since,
    /// `true` or `false`.
    Flag,
    /// An integer of at least this value. A value over the maximum is reduced to the maximum, which
    /// the description states.
    Integer(u64),
    /// A string that matches this regular expression.
    Pattern(&'static str),
    /// A non-empty string.
    Filled,
    /// A string of at most this many characters.
    TextTo(usize),
    /// Up to this many non-empty strings; the parameter is repeated for each.
    Texts(usize),
    /// Tag filters, each under `name[key]`.
    Tags,
    /// One of these strings.
    OneOf(&'static [&'static str]),
}

impl Param {
    /// Returns an optional query parameter that accepts any string.
    pub const fn query(name: &'static str, about: &'static str) -> Self {
        Self { name, about, place: Place::Query, form: Form::Text, required: false, example: "" }
    }

    /// Returns a path parameter. Needed only to explain it: every path parameter is documented.
    pub const fn path(name: &'static str, about: &'static str) -> Self {
        Self { place: Place::Path, required: true, ..Self::query(name, about) }
    }

    /// Sets the accepted values. Default: any string.
    #[must_use]
    pub const fn form(mut self, form: Form) -> Self {
        self.form = form;
        self
    }

    /// Makes the parameter required.
    #[must_use]
    pub const fn required(mut self) -> Self {
        self.required = true;
        self
    }

    /// Sets an example value.
    #[must_use]
    pub const fn example(mut self, example: &'static str) -> Self {
        self.example = example;
        self
    }
}

/// `limit` and `offset` of every list without paging parameters of its own.
pub const PAGING: [Param; 2] = [
    Param::query(
        "limit",
        "Maximum number of items to return. Default 100; a value over 1000 is reduced to 1000.",
    )
    .form(Form::Integer(1)),
    Param::query("offset", "Number of items to skip. Default 0.").form(Form::Integer(0)),
];
