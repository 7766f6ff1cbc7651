//! What the owner selects is what a task can read: one thread, once, for a while.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)] // a test says where it fails

mod support;

use actum::{ActionError, Selection, action};
use serde_json::{Value, json};

use support::answer::Answer;
use support::client::{Client, Task};
use support::home::{Authority, Home};
use support::kernel::{Here, Program};

const READ: &str = "email.read_thread:selected_no_attachments";
const SINK: &str = "Dripping pipe";
const TRIP: &str = "science museum";

/// An action whose selection is of another type than a mail thread.
#[action(
    id = "test.open:selected_slot",
    description = "Tells which slot of the calendar was selected.",
    selection_token = "calendar_slot_selection",
    read_only
)]
async fn open_slot(slot: &Selection) -> Result<String, ActionError> {
    Ok(slot.target.clone())
}

async fn read(kernel: &Client, task: &Task, selection: &Value, newest: u8) -> Answer {
    let mut call = json!({"action": READ, "arguments": {"max_messages": newest}});
    if !selection.is_null() {
        call["selection_token"] = selection.clone();
    }
    kernel.call(&task.token, &call).await
}

fn invalid(answer: &Answer) {
    answer.refused(403, "policy_denied", "selection_token_invalid");
    assert_eq!(answer.at("/error/operation_id"), READ);
}

#[tokio::test]
async fn the_selected_thread_is_read_with_its_text_and_without_attachments() {
    let kernel = Program::start(Home::sample());
    let task = kernel.select(SINK).await;
    assert_eq!(task.answer["route"], "owner_selected_thread");
    // The worker finds the token in its task.
    let view = kernel.task(&task.token).await.json();
    let selection = view["selection_tokens"][0].clone();
    assert_eq!(
        selection,
        json!({"token": task.selections[0], "type": "email_thread_selection"})
    );

    let answer = read(&kernel, &task, &selection["token"], 50).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    let thread = answer.json()["result"].clone();
    assert_eq!(thread["subject"], "Dripping pipe under the kitchen sink");
    assert_eq!(thread["omitted"], 0);
    let messages = thread["messages"].as_array().unwrap();
    assert_eq!(messages.len(), 3);
    assert_eq!(messages[0]["from"], "Robin Meyer <robin@example.org>");
    assert_eq!(messages[0]["date"], "2026-09-21T14:13:21Z");
    let text = messages[0]["text"].as_str().unwrap();
    assert!(text.contains("has been dripping since Sunday"), "{text}");
    let text = messages[1]["text"].as_str().unwrap();
    assert!(!text.contains("=\n") && !text.contains("=C3"), "{text}");

    let trip = kernel.select(TRIP).await;
    let answer = read(&kernel, &trip, &json!(trip.selections[0]), 50).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    let omitted: Vec<Value> = answer.json()["result"]["messages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|message| message["attachments_omitted"].clone())
        .collect();
    assert_eq!(omitted, [1, 0, 0]);
    assert!(answer.text().contains("class 4b visits the science museum"));
    for hidden in ["consent-form", "%PDF", "JVBER"] {
        assert!(!answer.text().contains(hidden), "{hidden} in {answer:?}");
    }
}

#[tokio::test]
async fn the_newest_messages_are_read_and_the_rest_is_counted() {
    let kernel = Program::start(Home::sample());
    let task = kernel.select(SINK).await;
    let answer = read(&kernel, &task, &json!(task.selections[0]), 1).await;
    let thread = answer.json()["result"].clone();
    assert_eq!(thread["omitted"], 2);
    assert_eq!(thread["messages"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn a_token_is_spent_by_its_first_use() {
    let kernel = Program::start(Home::sample());
    let task = kernel.select(SINK).await;
    let token = json!(task.selections[0]);
    assert_eq!(read(&kernel, &task, &token, 1).await.status, 200);
    for _ in 0..2 {
        invalid(&read(&kernel, &task, &token, 1).await);
    }
    let read_once = (READ.to_owned(), "succeeded".to_owned());
    assert_eq!(kernel.home.calls().await, [read_once]);
}

#[tokio::test]
async fn no_token_and_every_wrong_token_is_refused_alike() {
    let kernel = Program::start(Home::sample());
    let (task, other) = (kernel.select(SINK).await, kernel.select(TRIP).await);
    let token = task.selections[0].as_str();
    let none = read(&kernel, &task, &Value::Null, 1).await;
    invalid(&none);
    for wrong in [
        // Of another task of the same owner: it is real, and unspent.
        json!(other.selections[0]),
        json!("01ARZ3NDEKTSV4RRFFQ69G5FAV"),
        json!(task.id),
        json!(task.token),
        json!("nonsense"),
        json!(""),
        json!(format!(" {token}")),
        json!(format!("{token} ")),
        json!(format!("{token}0")),
        json!(token[..25].to_owned()),
        json!("é".repeat(13)),
        json!("0".repeat(100_000)),
    ] {
        assert_eq!(read(&kernel, &task, &wrong, 1).await, none, "{wrong}");
    }
    assert_eq!(kernel.home.calls().await, []);
    // None of that spent anything.
    for (task, token) in [(&task, token), (&other, other.selections[0].as_str())] {
        assert_eq!(read(&kernel, task, &json!(token), 1).await.status, 200);
    }
}

#[tokio::test]
async fn a_token_is_void_at_the_second_of_its_expiry_and_not_before() {
    let kernel = Here::start(Home::sample()).await;
    let (in_time, late) = (kernel.select(SINK).await, kernel.select(TRIP).await);
    kernel.pass(299);
    let answer = read(&kernel, &in_time, &json!(in_time.selections[0]), 1).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    kernel.pass(1);
    invalid(&read(&kernel, &late, &json!(late.selections[0]), 1).await);
    assert_eq!(
        kernel.task(&late.token).await.status,
        200,
        "the task itself goes on"
    );
}

#[tokio::test]
async fn a_task_that_is_taken_back_takes_its_selection_along() {
    let kernel = Here::start(Home::sample()).await;
    let task = kernel.select(SINK).await;
    let path = format!("/v1/owner/tasks/{}/revoke", task.id);
    assert_eq!(kernel.owner_post(&path, &json!({})).await.status, 200);
    let answer = read(&kernel, &task, &json!(task.selections[0]), 1).await;
    answer.refused(401, "unauthenticated", "token_invalid");
    // Nor can another task of the owner's use it.
    let other = kernel.select(TRIP).await;
    invalid(&read(&kernel, &other, &json!(task.selections[0]), 1).await);
}

#[tokio::test]
async fn of_two_calls_at_once_one_reads_and_one_is_refused() {
    let kernel = Program::start(Home::sample());
    for round in 0..20 {
        let task = kernel.select(SINK).await;
        let token = json!(task.selections[0]);
        let (one, other) = tokio::join!(
            read(&kernel, &task, &token, 1),
            read(&kernel, &task, &token, 1)
        );
        let (read, refused) = if one.status == 200 {
            (one, other)
        } else {
            (other, one)
        };
        assert_eq!(read.status, 200, "round {round}: {read:?}");
        invalid(&refused);
    }
    let calls = kernel.home.calls().await;
    assert_eq!(calls.len(), 20);
    assert!(
        calls.iter().all(|(_, state)| state == "succeeded"),
        "{calls:?}"
    );
}

#[tokio::test]
async fn the_model_cannot_name_another_thread() {
    let kernel = Program::start(Home::sample());
    let (task, other) = (kernel.select(SINK).await, kernel.thread(TRIP).await);
    let token = task.selections[0].as_str();
    for name in [
        "thread",
        "thread_id",
        "id",
        "target",
        "selection",
        "selection_token",
        "mail",
    ] {
        let arguments = json!({"max_messages": 1, name: other});
        let call = json!({"action": READ, "arguments": arguments, "selection_token": token});
        let answer = kernel.call(&task.token, &call).await;
        answer.refused(400, "input_invalid", "input_schema_invalid");
        assert!(
            answer
                .text()
                .contains(&format!("unknown argument `{name}`")),
            "{answer:?}"
        );
    }
    // Beside the arguments there is no place for it either.
    let call = json!({
        "action": READ, "arguments": {"max_messages": 1}, "selection_token": token, "target": other,
    });
    let answer = kernel.call(&task.token, &call).await;
    answer.refused(400, "input_invalid", "request_malformed");

    // What was refused spent nothing, and what is read is what was selected.
    let answer = read(&kernel, &task, &json!(token), 50).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    assert_eq!(
        answer.json()["result"]["subject"],
        "Dripping pipe under the kitchen sink"
    );
    assert!(!answer.text().contains("museum"));
}

#[tokio::test]
async fn each_of_several_selections_reads_its_own_thread() {
    let kernel = Program::start(Home::sample());
    let threads = [kernel.thread(SINK).await, kernel.thread(TRIP).await];
    let refs = threads
        .clone()
        .map(|id| json!({"type": "email_thread", "id": id}));
    let event = json!({
        "event_type": "email.thread.selected", "channel_account": "robins-desk",
        "actor_hint": {"device_id": "robins-desk"}, "target_refs": refs,
    });
    let task = kernel.begin("owner_terminal", &event).await;
    assert_eq!(task.selections.len(), 2);
    let mut threads_read = Vec::new();
    for token in task.selections.iter().rev() {
        let answer = read(&kernel, &task, &json!(token), 1).await;
        threads_read.push(answer.at("/result/id"));
    }
    threads_read.reverse();
    assert_eq!(threads_read, threads);
}

#[tokio::test]
async fn a_selection_of_another_type_does_not_serve() {
    // Both actions are granted; the event selects a mail thread, so a token is held for one alone.
    let authority = Authority {
        name: "pick",
        allowed: &[READ, "test.open:selected_slot"],
        ..Authority::default()
    };
    let home = Home::desk("terminal", &[authority], "");
    let kernel = Here::start(home).await;
    let event = json!({
        "event_type": "pick", "channel_account": "desk",
        "target_refs": [{"type": "email_thread", "id": "thr_0123456789abcdef"}],
    });
    let task = kernel.begin("desk", &event).await;
    assert_eq!(
        kernel.tools(&task.token).await,
        ["email-read_thread--selected_no_attachments"]
    );
    let call = json!({"action": "test.open:selected_slot", "selection_token": task.selections[0]});
    let answer = kernel.call(&task.token, &call).await;
    answer.refused(404, "operation_absent", "unknown_operation");
    let ledger = kernel.home.ledger().await;
    assert_eq!(
        ledger.last().unwrap().1["reason"],
        "selection_token_invalid"
    );

    // The right action spends it; that no mailbox is configured is told as such.
    let answer = read(&kernel, &task, &json!(task.selections[0]), 1).await;
    answer.refused(422, "operation_unsupported", "unavailable");
}

#[tokio::test]
async fn what_the_owner_cannot_select_begins_no_task() {
    let kernel = Program::start(Home::sample());
    for thread in [
        "thr_0123456789abcdef",
        "thr_",
        "",
        "../../etc/passwd",
        "THR_0123456789ABCDEF",
    ] {
        let answer = kernel
            .owner_post("/v1/owner/selections", &json!({"thread": thread}))
            .await;
        answer.refused(404, "input_invalid", "unknown_thread");
    }
    for body in [
        json!({}),
        json!({"thread": 5}),
        json!({"thread": "x", "task": "y"}),
        json!([]),
    ] {
        let answer = kernel.owner_post("/v1/owner/selections", &body).await;
        answer.refused(400, "input_invalid", "request_malformed");
    }
    let ledger = kernel.home.ledger().await;
    assert!(ledger.iter().all(|(kind, _)| kind != "grant_issued"));
}

#[tokio::test]
async fn the_command_line_selects_a_thread_and_prints_the_call_that_reads_it() {
    let kernel = Program::start(Home::sample());
    let (done, list) = kernel.command(&["select"]);
    assert!(done);
    let line = list.lines().find(|line| line.contains(SINK)).unwrap();
    let thread = line.split_whitespace().next().unwrap();
    let (done, said) = kernel.command(&["select", thread]);
    assert!(done, "{said}");

    let between = |from: &str, to: &str| {
        let start = said.find(from).unwrap() + from.len();
        said[start..start + said[start..].find(to).unwrap()].to_owned()
    };
    let (token, body) = (between("Bearer ", "\""), between("-d '", "'"));
    let answer = kernel.post("/v1/actions", Some(&token), body).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    assert!(answer.text().contains("has been dripping since Sunday"));
}
