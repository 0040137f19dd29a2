//! The HTTP routes of chat.

use std::sync::Arc;

use super::wire::{AnsweredView, QuestionInput, SessionInput, SessionStartView, SessionView};
use super::{asking, ops};
use crate::app::App;
use crate::areas::repositories::error::NOT_SYNCED;
use crate::areas::repositories::ids::{RepositoryId, SessionId};
use crate::areas::repositories::limits;
use crate::areas::repositories::respond::{respond, respond_list};
use crate::http::{
    ApiResult, Deleted, Doc, ErrorCode, LimitClass, Link, PathParam, Request, Response, Route,
    Scope, Success,
};

/// The routes of chat.
pub static CHAT_ROUTES: &[Route] = &[
    Route::post("/api/v1/chat", &ask).scope(Scope::Read).limit(LimitClass::Query).doc(ASK),
    Route::post("/api/v1/chat/sessions", &create).scope(Scope::Read).doc(CREATE),
    Route::get("/api/v1/chat/sessions/{id}", &get).doc(GET),
    Route::delete("/api/v1/chat/sessions/{id}", &delete).doc(DELETE),
];

async fn ask(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let asked_by = req.identity().user().to_owned();
    let question = req.json::<QuestionInput>()?.into_question(asked_by)?;
    let answered = asking::ask(&app, question).await?;
    respond(&app, Success::Ok, &AnsweredView::new(answered), 0)
}

async fn create(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let (repository, context) = req.json::<SessionInput>()?.into_parts()?;
    let created_by = req.identity().user().to_owned();
    let work = move |app: &App| ops::create(app, repository, context, created_by);
    let session = app.blocking(work).await?;
    respond(&app, Success::Created, &SessionStartView::new(&session), 0)
}

async fn get(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let id: SessionId = req.path("id")?;
    let read = move |app: &App| {
        let session = ops::get(app, id)?;
        let turns = ops::turns(app, &session, limits::SESSION_TURNS_MAX)?;
        Ok::<_, crate::areas::repositories::RepositoryError>((session, turns))
    };
    let (session, turns) = app.blocking(read).await?;
    respond_list(&app, &SessionView::new(session, turns))
}

async fn delete(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let id: SessionId = req.path("id")?;
    app.blocking(move |app| ops::delete(app, id)).await?;
    Response::ok(&Deleted::new(id.text()))
}

const TAG: &str = "Code help";
const NO_REPOSITORY: ErrorCode = ErrorCode::Missing(RepositoryId::RESOURCE);
const NO_SESSION: ErrorCode = ErrorCode::Missing(SessionId::RESOURCE);
const SESSION_LINKS: [Link; 1] = [Link::get("/api/v1/chat/sessions/{id}", "id", "/session_id")];

const ASK: Doc = Doc::new(TAG, "Ask a question about a repository")
    .about(
        "The answer is put together from the code, its signatures and its documentation; a number \
         in brackets names the reference that a sentence is from. If nothing is found, the answer \
         says so, with a confidence below 0.2 and no references. If a name in the question is \
         not defined but another one is, the answer says so first, with a confidence below 0.2. \
         With `llm.base_url`, a language model words the answer from the same passages, with a \
         confidence of 0.8 at most; sentences that do not end with a valid reference, or whose \
         code, paths, links or words are mostly not in the lines that they refer to, are left out. \
         The text is plain text in which code \
         is between backticks. It quotes the repository: what Markdown would show as a link, an \
         image or HTML has a backslash, and invisible characters are left out.",
    )
    .request::<QuestionInput>(
        r#"{"question": "How are failed jobs retried?", "repository": "repo_01JGVQ2DPY0000000000000000"}"#,
    )
    .ok::<AnsweredView>()
    .links(&SESSION_LINKS)
    .errors(&[
        NO_REPOSITORY,
        NO_SESSION,
        NOT_SYNCED,
        ErrorCode::MissingField,
        ErrorCode::InvalidField,
        ErrorCode::InvalidState,
    ]);

const CREATE: Doc = Doc::new(TAG, "Begin a chat session")
    .about(
        "A session is deleted 30 days after its last question, or if there are too many. Sessions \
         belong to the server, not to a key: every key with the scope `read` can read and continue \
         a session whose id it knows.",
    )
    .request::<SessionInput>(
        r#"{"repository": "repo_01JGVQ2DPY0000000000000000", "context": "the job queue"}"#,
    )
    .created::<SessionStartView>()
    .links(&SESSION_LINKS)
    .errors(&[NO_REPOSITORY, ErrorCode::MissingField, ErrorCode::InvalidField]);

const GET: Doc = Doc::new(TAG, "Get a chat session with its messages")
    .ok::<SessionView>()
    .errors(&[NO_SESSION])
    .versioned();

const DELETE: Doc =
    Doc::new(TAG, "Delete a chat session").ok::<Deleted>().errors(&[NO_SESSION]).ext();
