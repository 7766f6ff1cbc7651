//! A handler's own check of its arguments comes before a call waits, before an edited one does, and before one begins.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)] // a test says where it fails

mod support;

use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::sync::{Arc, Mutex};

use actum::schema::ArgumentFault;
use actum::{ActionError, Call, Registry, action};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use support::answer::Answer;
use support::client::Task;
use support::home::{Authority, Home};
use support::kernel::Here;

/// A printer with so many pages in it.
#[derive(Clone, Default)]
struct Printer {
    pages: Arc<AtomicU32>,
    printed: Arc<Mutex<Vec<u32>>>,
}

impl Printer {
    fn with(pages: u32) -> Self {
        let printer = Self::default();
        printer.pages.store(pages, SeqCst);
        printer
    }

    fn printed(&self) -> Vec<u32> {
        self.printed.lock().unwrap().clone()
    }
}

#[derive(Deserialize, JsonSchema)]
struct Print {
    page: u32,
}

#[action(
    id = "page.print",
    description = "Print a page.",
    approval_required,
    check = is_there
)]
async fn print(printer: &Printer, _: &Call, ask: Print) -> Result<(), ActionError> {
    printer.printed.lock().unwrap().push(ask.page);
    Ok(())
}

#[action(id = "page.proof", description = "Print a proof.", check = is_there)]
async fn proof(printer: &Printer, _: &Call, ask: Print) -> Result<(), ActionError> {
    printer.printed.lock().unwrap().push(ask.page);
    Ok(())
}

/// Page 13 makes it fail, and page 666 panic.
async fn is_there(
    printer: &Printer,
    call: &Call,
    ask: &Print,
) -> Result<Vec<ArgumentFault>, ActionError> {
    assert_ne!(ask.page, 666);
    assert_eq!(call.request_id, ulid::Ulid::nil());
    if ask.page == 13 {
        return Err(ActionError::failed("ZANZIBAR"));
    }
    let fault = ArgumentFault {
        at: "/page".to_owned(),
        problem: "there is no such page".to_owned(),
    };
    let is_there = ask.page <= printer.pages.load(SeqCst);
    Ok((!is_there).then_some(fault).into_iter().collect())
}

async fn kernel(printer: &Printer) -> (Here, Task) {
    let work = Authority {
        name: "work",
        allowed: &["page.print", "page.proof"],
        ..Authority::default()
    };
    let home = Home::desk("chat", &[work], "");
    let registry = Registry::new(actum::actions![print, proof], []).unwrap();
    let kernel = Here::start_with(home, |builder| {
        builder.registry(registry).resource(printer.clone())
    })
    .await;
    let event = json!({"event_type": "work", "channel_account": "room"});
    let task = kernel.begin("desk", &event).await;
    (kernel, task)
}

async fn ask(kernel: &Here, task: &Task, action: &str, page: u32) -> Answer {
    kernel.ask(&task.token, action, json!({"page": page})).await
}

/// A call that waits: its path, and the body of a decision on it.
async fn waiting(kernel: &Here, id: &str) -> (String, Value) {
    let path = format!("/v1/owner/calls/{id}");
    let call = kernel.owner_get(&path).await.json();
    (path, json!({"binding": call["call"]["binding"]}))
}

#[tokio::test]
async fn what_does_not_pass_neither_waits_nor_begins_and_says_why() {
    let printer = Printer::with(3);
    let (kernel, task) = kernel(&printer).await;
    for action in ["page.print", "page.proof"] {
        let answer = ask(&kernel, &task, action, 4).await;
        answer.refused(400, "input_invalid", "input_schema_invalid");
        let told = json!([{"at": "/page", "problem": "there is no such page"}]);
        assert_eq!(answer.json()["error"]["faults"], told);
    }
    assert!(printer.printed().is_empty());
    let calls = kernel.owner_get("/v1/owner/calls").await.json();
    assert_eq!(calls["calls"], json!([]));
    assert_eq!(ask(&kernel, &task, "page.proof", 3).await.status, 200);
    assert_eq!(ask(&kernel, &task, "page.print", 3).await.status, 202);
    assert_eq!(printer.printed(), [3]);
}

#[tokio::test]
async fn an_edited_call_is_checked_like_any_other() {
    let printer = Printer::with(3);
    let (kernel, task) = kernel(&printer).await;
    let id = ask(&kernel, &task, "page.print", 1).await.at("/request_id");
    let (path, mut body) = waiting(&kernel, &id).await;
    body["arguments"] = json!({"page": 4});
    let edited = kernel.owner_post(&format!("{path}/edit"), &body).await;
    edited.refused(400, "input_invalid", "input_schema_invalid");
    assert_eq!(kernel.state(&task.token, &id).await.at("/state"), "pending");
}

#[tokio::test]
async fn what_was_approved_is_checked_once_more_before_it_begins() {
    let printer = Printer::with(3);
    let (kernel, task) = kernel(&printer).await;
    let id = ask(&kernel, &task, "page.print", 3).await.at("/request_id");
    let (path, body) = waiting(&kernel, &id).await;
    printer.pages.store(2, SeqCst);
    let decided = kernel.owner_post(&format!("{path}/approve"), &body).await;
    assert_eq!(decided.at("/state"), "refused");
    assert!(printer.printed().is_empty());
}

#[tokio::test]
async fn a_check_that_cannot_tell_is_no_leave() {
    let printer = Printer::with(1_000);
    let (kernel, task) = kernel(&printer).await;
    for page in [13, 666] {
        for action in ["page.print", "page.proof"] {
            let answer = ask(&kernel, &task, action, page).await;
            answer.refused(400, "input_invalid", "input_schema_invalid");
            assert!(!answer.text().contains("ZANZIBAR"), "{answer:?}");
        }
    }
    assert!(printer.printed().is_empty());
}
