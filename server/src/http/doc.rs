//! What the OpenAPI document says about a route, written beside the route.

use schemars::{JsonSchema, Schema, SchemaGenerator};

use super::error::ErrorCode;
use super::route::Method;

/// Makes the schema of one type; the generator collects what it refers to.
pub type SchemaOf = fn(&mut SchemaGenerator) -> Schema;

/// The documentation of one route.
#[derive(Clone, Copy, Debug)]
pub struct Doc {
    /// The area, as a heading.
    pub tag: &'static str,
    /// One line that says what the route does.
    pub summary: &'static str,
    /// More, in CommonMark, where one line is not enough.
    pub description: &'static str,
    /// Query parameters, and path parameters that need explaining.
    pub parameters: &'static [Param],
    /// The body of a request.
    pub request: Option<BodyDoc>,
    /// The successful answer.
    pub answer: Answer,
    /// The same in another encoding, where the route has two.
    pub twin: Option<Twin>,
    /// The codes of the area that the route refuses with; the codes every route has are added.
    pub errors: &'static [ErrorCode],
    /// What can be done with what the route answers.
    pub links: &'static [Link],
    /// Whether the resource has an `ETag`: reading answers it, changing honours `If-Match`.
    pub versioned: bool,
    /// Whether the route is an extension of the service's contract.
    pub extension: bool,
}

/// What is sent to a route.
#[derive(Clone, Copy, Debug)]
pub struct BodyDoc {
    /// The media type.
    pub media: &'static str,
    /// The schema.
    pub schema: SchemaOf,
    /// Whether the call fails without a body.
    pub required: bool,
    /// A body to try, which succeeds; empty where there is none.
    pub example: &'static str,
}

/// Another encoding of bodies: an answer is in that of its request.
#[derive(Clone, Copy, Debug)]
pub struct Twin {
    /// The media type.
    pub media: &'static str,
    /// The schema of the request body.
    pub request: SchemaOf,
    /// The schema of the answer.
    pub answer: SchemaOf,
}

/// A way from an answer to what can be done with it.
#[derive(Clone, Copy, Debug)]
pub struct Link {
    /// The method of the route that it leads to.
    pub method: Method,
    /// The path of that route.
    pub path: &'static str,
    /// The part of that path that the answer names.
    pub parameter: &'static str,
    /// Where in the answer it stands, as a JSON pointer.
    pub pointer: &'static str,
    /// The part of that path which is the same one as in the request; empty where there is none.
    pub outer: &'static str,
}

impl Link {
    /// A way to the `GET` of this path, whose `parameter` the answer has at `pointer`.
    pub const fn get(path: &'static str, parameter: &'static str, pointer: &'static str) -> Self {
        Self { method: Method::Get, path, parameter, pointer, outer: "" }
    }

    /// The path that it leads to has this part in common with that of the request.
    #[must_use]
    pub const fn within(mut self, outer: &'static str) -> Self {
        self.outer = outer;
        self
    }
}

/// What a successful call answers.
#[derive(Clone, Copy, Debug)]
pub struct Answer {
    /// The HTTP status.
    pub status: u16,
    /// The media type; empty where there is no body.
    pub media: &'static str,
    /// The schema of the body, where there is one.
    pub schema: Option<SchemaOf>,
}

impl Doc {
    /// A route that says nothing about itself.
    pub const EMPTY: Self = Self::new("", "");

    /// The route's area and what the route does, in one line.
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
            versioned: false,
            extension: false,
        }
    }

    /// More about the route, in CommonMark.
    #[must_use]
    pub const fn about(mut self, description: &'static str) -> Self {
        self.description = description;
        self
    }

    /// The query parameters.
    #[must_use]
    pub const fn parameters(mut self, parameters: &'static [Param]) -> Self {
        self.parameters = parameters;
        self
    }

    /// The type of the request body, in JSON; `example` is one that succeeds.
    #[must_use]
    pub const fn request<T: JsonSchema>(self, example: &'static str) -> Self {
        self.body(BodyDoc {
            media: "application/json",
            schema: SchemaGenerator::subschema_for::<T>,
            required: true,
            example,
        })
    }

    /// The same where a request may have no body.
    #[must_use]
    pub const fn optional_request<T: JsonSchema>(self, example: &'static str) -> Self {
        self.body(BodyDoc {
            media: "application/json",
            schema: SchemaGenerator::subschema_for::<T>,
            required: false,
            example,
        })
    }

    /// The request body, where it is not JSON.
    #[must_use]
    pub const fn body(mut self, body: BodyDoc) -> Self {
        self.request = Some(body);
        self
    }

    /// Answers 200 with this body.
    #[must_use]
    pub const fn ok<T: JsonSchema>(self) -> Self {
        self.answers::<T>(200)
    }

    /// Answers 201 with this body.
    #[must_use]
    pub const fn created<T: JsonSchema>(self) -> Self {
        self.answers::<T>(201)
    }

    /// Answers 202 with this body.
    #[must_use]
    pub const fn accepted<T: JsonSchema>(self) -> Self {
        self.answers::<T>(202)
    }

    /// Answers 204, which has no body.
    #[must_use]
    pub const fn no_content(mut self) -> Self {
        self.answer = Answer { status: 204, media: "", schema: None };
        self
    }

    /// Answers 200 with this, which is not JSON.
    #[must_use]
    pub const fn encoded(mut self, media: &'static str, schema: SchemaOf) -> Self {
        self.answer = Answer { status: 200, media, schema: Some(schema) };
        self
    }

    /// Answers 200 with something that is not JSON.
    #[must_use]
    pub const fn media(mut self, media: &'static str) -> Self {
        self.answer.media = media;
        self
    }

    /// The codes of the area that the route refuses with.
    #[must_use]
    pub const fn errors(mut self, errors: &'static [ErrorCode]) -> Self {
        self.errors = errors;
        self
    }

    /// The route reads another encoding too, and answers in it.
    #[must_use]
    pub const fn twin(mut self, twin: Twin) -> Self {
        self.twin = Some(twin);
        self
    }

    /// What can be done with what is answered.
    #[must_use]
    pub const fn links(mut self, links: &'static [Link]) -> Self {
        self.links = links;
        self
    }

    /// The resource has an `ETag`: reading answers it, changing honours `If-Match`.
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

/// A parameter of a path or query string.
#[derive(Clone, Copy, Debug)]
pub struct Param {
    /// The name; `tags[key]` stands for any key.
    pub name: &'static str,
    /// What it means and what holds when it is absent.
    pub about: &'static str,
    /// Where it stands.
    pub place: Place,
    /// What it may be.
    pub form: Form,
    /// Whether the call fails without it.
    pub required: bool,
    /// A value to try.
    pub example: &'static str,
}

/// Where a parameter stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// In the path.
    Path,
    /// In the query string.
    Query,
}

/// What a parameter may be.
#[derive(Clone, Copy, Debug)]
pub enum Form {
    /// Any text.
    Text,
    /// A time: RFC 3339, a date, seconds or milliseconds since 1970, or relative to now.
    Time,
    /// A time, or how long before now: `30m`, `24h`, `7d`, `2w`.
    Since,
    /// `true` or `false`.
    Flag,
    /// A whole number, this or larger. What is too large to be served is taken as what can be, which the description tells.
    Integer(u64),
    /// A text that this regular expression matches.
    Pattern(&'static str),
    /// A text that is not empty.
    Filled,
    /// A text of so many characters at most.
    TextTo(usize),
    /// Texts that are not empty, up to so many, each under the name once more.
    Texts(usize),
    /// Conditions on tags, each under `name[key]`.
    Tags,
    /// One of these words.
    OneOf(&'static [&'static str]),
}

impl Param {
    /// An optional text of the query string.
    pub const fn query(name: &'static str, about: &'static str) -> Self {
        Self { name, about, place: Place::Query, form: Form::Text, required: false, example: "" }
    }

    /// A part of the path. Only needed to explain it: every part of a path is documented.
    pub const fn path(name: &'static str, about: &'static str) -> Self {
        Self { place: Place::Path, required: true, ..Self::query(name, about) }
    }

    /// What the parameter may be; any text unless said.
    #[must_use]
    pub const fn form(mut self, form: Form) -> Self {
        self.form = form;
        self
    }

    /// The call fails without it.
    #[must_use]
    pub const fn required(mut self) -> Self {
        self.required = true;
        self
    }

    /// A value to try.
    #[must_use]
    pub const fn example(mut self, example: &'static str) -> Self {
        self.example = example;
        self
    }
}

/// `limit` and `offset`, as every list without paging of its own has them.
pub const PAGING: [Param; 2] = [
    Param::query(
        "limit",
        "Items in the answer; 100 when absent, a larger number is taken as 1000.",
    )
    .form(Form::Integer(1)),
    Param::query("offset", "Items to pass over; 0 when absent.").form(Form::Integer(0)),
];
