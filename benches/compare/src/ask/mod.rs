//! The nine questions, what their answers come to, and how long they take.

mod digest;
mod measure;
mod question;

pub(crate) use digest::Digest;
pub(crate) use measure::{measure, throughput};
pub(crate) use question::{
    Aggregate, Asked, EventQuestion, MetricQuestion, Question, Shape, shapes,
};
