//! The mails to subscribers: a plain text and the same in HTML.
//!
//! No name can add a header or a link: subjects are single lines, links are made of the address of
//! the page and a token, and the template escapes what it shows.

use askama::Template;
use lettre::message::{Mailbox, MultiPart, SinglePart};
use lettre::{Address, Message};

use super::model::Subscriber;
use super::token::SubscriberToken;
use crate::areas::status::notices::{Notice, NoticeText};
use crate::platform::mail::{AutoSubmitted, ListUnsubscribe, ListUnsubscribePost};

/// Characters of a subject: what mail programs show.
const SUBJECT_CHARS: usize = 200;

/// A status page as mails name it.
#[derive(Clone, Copy, Debug)]
pub(super) struct MailPage<'a> {
    pub(super) name: &'a str,
    /// Its absolute URL, without a slash at the end.
    pub(super) url: &'a str,
}

/// Why a mail cannot be written.
#[derive(Debug, thiserror::Error)]
pub(super) enum MailWriteError {
    /// The address was accepted by an earlier version.
    #[error("the address is invalid: {0}")]
    Address(#[from] lettre::address::AddressError),
    #[error(transparent)]
    Message(#[from] lettre::error::Error),
    #[error("the template fails: {0}")]
    Template(#[from] askama::Error),
}

#[derive(Template)]
#[template(path = "status/mail.html")]
struct MailHtml<'a> {
    title: &'a str,
    paragraphs: &'a [String],
    facts: &'a [(String, String)],
    page: MailPage<'a>,
    button: Button<'a>,
    footer: &'a str,
    footer_url: &'a str,
}

/// The link that a mail is about.
#[derive(Clone, Copy)]
struct Button<'a> {
    label: &'a str,
    url: &'a str,
}

/// Returns the mail that asks the owner of an address for confirmation.
pub(super) fn confirmation(
    from: &Mailbox,
    page: MailPage<'_>,
    subscriber: &Subscriber,
) -> Result<Message, MailWriteError> {
    let token = SubscriberToken::text(subscriber.id, subscriber.confirm);
    let url = format!("{}/subscribers/{token}/confirm", page.url);
    let paragraphs = [
        format!(
            "Somebody, probably you, asked for mails about incidents and maintenance of {}.",
            page.name
        ),
        "Open the link and press the button there. If it was not you, ignore this mail: you will \
         get no other."
            .to_owned(),
    ];
    let text = NoticeText {
        title: format!("Confirm your subscription to {}", page.name),
        paragraphs: paragraphs.into(),
        facts: Vec::new(),
    };
    let button = Button { label: "Confirm the subscription", url: &url };
    let key = format!("confirm-{}", subscriber.asked);
    write(from, page, subscriber, (&key, &text), button)
}

/// Returns the mail about an incident or a maintenance.
pub(super) fn notice(
    from: &Mailbox,
    page: MailPage<'_>,
    subscriber: &Subscriber,
    notice: &Notice,
) -> Result<Message, MailWriteError> {
    let button = Button { label: "Open the status page", url: page.url };
    write(from, page, subscriber, (&notice.key, &notice.text), button)
}

fn write(
    from: &Mailbox,
    page: MailPage<'_>,
    subscriber: &Subscriber,
    (key, notice): (&str, &NoticeText),
    button: Button<'_>,
) -> Result<Message, MailWriteError> {
    let token = SubscriberToken::text(subscriber.id, subscriber.unsubscribe);
    let unsubscribe = format!("{}/subscribers/{token}/unsubscribe", page.url);
    let footer = "End the subscription";
    let html = MailHtml {
        title: &notice.title,
        paragraphs: &notice.paragraphs,
        facts: &notice.facts,
        page,
        button,
        footer,
        footer_url: &unsubscribe,
    };
    let text = plain(notice, button, &unsubscribe);
    let to: Address = subscriber.email.parse()?;
    let id = format!("<{key}.{}@{}>", subscriber.id.text(), from.email.domain());
    let body = MultiPart::alternative()
        .singlepart(SinglePart::plain(text))
        .singlepart(SinglePart::html(html.render()?));
    let sender = Mailbox::new(Some(one_line(page.name)), from.email.clone());
    let message = Message::builder()
        .from(sender)
        .to(Mailbox::new(None, to))
        .subject(subject(page, &notice.title))
        .message_id(Some(id))
        .header(AutoSubmitted)
        .header(ListUnsubscribe(unsubscribe))
        .header(ListUnsubscribePost)
        .multipart(body)?;
    Ok(message)
}

fn subject(page: MailPage<'_>, title: &str) -> String {
    let whole = format!("[{}] {title}", page.name);
    // A program would decode an encoded word of RFC 2047 that a name contains.
    one_line(&whole.replace("=?", "= ?")).chars().take(SUBJECT_CHARS).collect()
}

fn plain(notice: &NoticeText, button: Button<'_>, unsubscribe: &str) -> String {
    let mut text = format!("{}\n", notice.title);
    for paragraph in &notice.paragraphs {
        text += &format!("\n{paragraph}\n");
    }
    if !notice.facts.is_empty() {
        text += "\n";
    }
    for (name, value) in &notice.facts {
        text += &format!("{name}: {value}\n");
    }
    text += &format!("\n{}:\n{}\n", button.label, button.url);
    text + &format!("\n-- \nEnd the subscription:\n{unsubscribe}\n")
}

/// Replaces what could end a line.
fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}
