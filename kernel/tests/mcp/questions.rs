//! Questions by the revision without sessions: the request ends with the question, and the call goes on with its answer.

// Of a person's program and of its model.
#![expect(deprecated)]

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use actum::caller::{Caller, Reply};
use actum::{ActionError, Registry, action};
use rmcp::model::{
    CallToolRequestParams, ClientCapabilities, ClientConfig, CreateMessageRequestParams,
    CreateMessageResult, ElicitRequestParams, ElicitResult, ElicitationAction, ErrorData,
    Implementation, SamplingMessage,
};
use rmcp::service::RequestContext;
use rmcp::{ClientHandler, RoleClient};
use serde_json::{Value, json};

use super::support::home::{Authority, Home};
use super::support::kernel::Here;
use super::{discovered, sessionless};

/// How often the handler ran.
static RUNS: AtomicU32 = AtomicU32::new(0);

#[action(id = "questions.name", description = "Name a colour.")]
async fn name(caller: &Caller) -> Result<String, ActionError> {
    RUNS.fetch_add(1, Ordering::SeqCst);
    let form = json!({
        "type": "object",
        "properties": {"colour": {"type": "string"}},
        "required": ["colour"],
    });
    let colour = match caller.elicit("Which colour?", form).await {
        Ok(Reply::Accepted(form)) => form["colour"].as_str().unwrap_or("none").to_owned(),
        Ok(other) => return Ok(format!("{other:?}")),
        Err(cannot) => return Ok(cannot.to_string()),
    };
    Ok(
        match caller.sample(&format!("A word for {colour}?"), 20).await {
            Ok(word) => format!("{colour} is {word}"),
            Err(cannot) => format!("{colour}; {cannot}"),
        },
    )
}

#[action(
    id = "questions.read",
    description = "Read what somebody picks.",
    read_only,
    resource = "questions:pick",
    prompt
)]
async fn pick(caller: &Caller) -> Result<String, ActionError> {
    match caller
        .elicit("Which?", json!({"type": "object", "properties": {}}))
        .await
    {
        Ok(reply) => Ok(format!("{reply:?}")),
        Err(cannot) => Ok(cannot.to_string()),
    }
}

async fn kernel(more: &str) -> (Here, [String; 2]) {
    let authority = Authority {
        name: "work",
        allowed: &["questions.name", "questions.read"],
        ..Authority::default()
    };
    let registry = Registry::new(actum::actions![name, pick], []).unwrap();
    let home = Home::desk("chat", &[authority], more);
    let kernel = Here::start_with(home, |builder| builder.registry(registry)).await;
    let event = json!({"event_type": "work", "channel_account": "desk"});
    let tokens = [
        kernel.begin("desk", &event).await.token,
        kernel.begin("desk", &event).await.token,
    ];
    (kernel, tokens)
}

/// A request of a client that has a person and a model, with what it comes back with.
fn able(method: &str, mut params: Value, state: &Value, answer: Option<Value>) -> Value {
    if let Some(state) = state.as_str() {
        params["requestState"] = json!(state);
    }
    if let Some(answer) = answer {
        params["inputResponses"] = json!({"question": answer});
    }
    let mut request = sessionless(method, params);
    request["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"] =
        json!({"elicitation": {"form": {}}, "sampling": {}});
    request
}

fn named(state: &Value, answer: Option<Value>) -> Value {
    let params = json!({"name": "questions-name", "arguments": {}});
    able("tools/call", params, state, answer)
}

fn filled_in(colour: &str) -> Option<Value> {
    Some(json!({"action": "accept", "content": {"colour": colour}}))
}

#[derive(Clone, Default)]
struct Person(Arc<Mutex<Vec<String>>>);

impl ClientHandler for Person {
    fn get_info(&self) -> ClientConfig {
        let capabilities = ClientCapabilities::builder()
            .enable_elicitation()
            .enable_sampling()
            .build();
        ClientConfig::new(capabilities, Implementation::new("person", "1"))
    }

    async fn create_elicitation(
        &self,
        asked: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let ElicitRequestParams::FormElicitationParams { message, .. } = asked else {
            panic!("{asked:?}");
        };
        self.0.lock().unwrap().push(message);
        let mut accepted = ElicitResult::new(ElicitationAction::Accept);
        accepted.content = Some(json!({"colour": "blue"}));
        Ok(accepted)
    }

    async fn create_message(
        &self,
        asked: CreateMessageRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<CreateMessageResult, ErrorData> {
        let prompt = asked.messages[0].content.first().unwrap().as_text();
        self.0.lock().unwrap().push(prompt.unwrap().text.clone());
        let written = SamplingMessage::assistant_text("azure");
        Ok(CreateMessageResult::new(written, "a-model".to_owned()))
    }
}

#[tokio::test]
async fn a_handler_asks_twice_and_runs_once() {
    let (kernel, [token, other]) = kernel("").await;
    let runs = RUNS.load(Ordering::SeqCst);
    let asked = kernel.mcp(&token, &named(&Value::Null, None)).await.json();
    let asked = &asked["result"];
    assert_eq!(asked["resultType"], "input_required", "{asked}");
    let question = &asked["inputRequests"]["question"];
    assert_eq!(question["method"], "elicitation/create");
    assert_eq!(question["params"]["message"], "Which colour?");
    assert_eq!(
        question["params"]["requestedSchema"]["required"],
        json!(["colour"])
    );

    // Without its answer it is asked again, and by the new name alone.
    let again = kernel
        .mcp(&token, &named(&asked["requestState"], None))
        .await
        .json();
    let again = &again["result"];
    assert_eq!(again["inputRequests"], asked["inputRequests"]);
    // Of another task, of another call, and of a name that is no more or never was.
    let state = &again["requestState"];
    let with_more = json!({"name": "questions-name", "arguments": {"more": 1}});
    let foreign = [
        (&other, named(state, filled_in("red"))),
        (
            &token,
            able("tools/call", with_more, state, filled_in("red")),
        ),
        (&token, named(&asked["requestState"], filled_in("red"))),
        (&token, named(&json!("never"), filled_in("red"))),
    ];
    for (token, request) in foreign {
        let refused = kernel.mcp(token, &request).await.json();
        assert_eq!(refused["error"]["code"], -32602, "{refused}");
        assert!(
            refused["error"]["message"]
                .as_str()
                .unwrap()
                .contains("requestState")
        );
    }

    let second = kernel
        .mcp(&token, &named(state, filled_in("green")))
        .await
        .json();
    let second = &second["result"];
    let question = &second["inputRequests"]["question"];
    assert_eq!(question["method"], "sampling/createMessage");
    assert_eq!(
        question["params"]["messages"][0]["content"]["text"],
        "A word for green?"
    );
    let written = json!({
        "role": "assistant", "model": "m", "content": {"type": "text", "text": "lime"},
    });
    let done = kernel
        .mcp(&token, &named(&second["requestState"], Some(written)))
        .await
        .json();
    assert_eq!(done["result"]["content"][0]["text"], "green is lime");
    assert_eq!(RUNS.load(Ordering::SeqCst), runs + 1);

    let home = kernel.stopped().await;
    let succeeded = ("questions.name".to_owned(), "succeeded".to_owned());
    assert_eq!(home.calls().await, [succeeded]);
    let started = home.ledger().await;
    assert_eq!(
        started
            .iter()
            .filter(|(kind, _)| kind == "call_started")
            .count(),
        1
    );
}

#[tokio::test]
async fn an_official_client_answers_by_itself() {
    let (kernel, [token, _]) = kernel("").await;
    let person = Person::default();
    let client = discovered(&kernel, &token, person.clone()).await;
    let done = client
        .call_tool(CallToolRequestParams::new("questions-name"))
        .await
        .unwrap();
    assert_eq!(done.content[0].as_text().unwrap().text, "blue is azure");
    let asked = person.0.lock().unwrap().clone();
    assert_eq!(asked, ["Which colour?", "A word for blue?"]);
    client.cancel().await.unwrap();
}

#[tokio::test]
async fn what_is_no_answer_is_told_to_the_handler_and_who_cannot_be_asked_is_not() {
    let (kernel, [token, _]) = kernel("").await;
    for (answer, told) in [
        (json!({"action": "decline"}), "Declined"),
        (json!({"action": "cancel"}), "Dismissed"),
        (
            json!({"action": "sing"}),
            "the worker cannot be asked: its answer is none",
        ),
        (
            json!("blue"),
            "the worker cannot be asked: its answer is none",
        ),
    ] {
        let asked = kernel.mcp(&token, &named(&Value::Null, None)).await.json();
        let state = &asked["result"]["requestState"];
        let done = kernel.mcp(&token, &named(state, Some(answer))).await;
        let text = done.at("/result/content/0/text");
        assert!(text.starts_with(told), "{text}");
    }
    let params = json!({"name": "questions-name", "arguments": {}});
    let nobody = kernel.mcp(&token, &sessionless("tools/call", params)).await;
    let text = nobody.at("/result/content/0/text");
    assert_eq!(
        text,
        "the worker cannot be asked: its program shows no forms"
    );
}

#[tokio::test]
async fn what_is_read_and_what_is_chosen_can_ask_too() {
    let (kernel, [token, _]) = kernel("").await;
    for (method, params, at) in [
        (
            "resources/read",
            json!({"uri": "questions:pick"}),
            "/result/contents/0/text",
        ),
        (
            "prompts/get",
            json!({"name": "questions-read"}),
            "/result/messages/0/content/text",
        ),
    ] {
        let ask = |state: &Value, answer| able(method, params.clone(), state, answer);
        let asked = kernel.mcp(&token, &ask(&Value::Null, None)).await.json();
        let state = &asked["result"]["requestState"];
        assert!(state.is_string(), "{asked}");
        let declined = Some(json!({"action": "decline"}));
        let done = kernel.mcp(&token, &ask(state, declined)).await;
        assert_eq!(done.at(at), "Declined");
    }
}

#[tokio::test]
async fn a_task_leaves_so_many_questions_open_and_a_stop_waits_for_none() {
    let (kernel, [token, other]) = kernel("").await;
    for _ in 0..16 {
        let asked = kernel.mcp(&token, &named(&Value::Null, None)).await.json();
        assert!(asked["result"]["requestState"].is_string(), "{asked}");
    }
    let one_more = kernel.mcp(&token, &named(&Value::Null, None)).await;
    let text = one_more.at("/result/content/0/text");
    assert!(text.contains("16 questions"), "{text}");
    let of_other = kernel.mcp(&other, &named(&Value::Null, None)).await.json();
    assert!(of_other["result"]["requestState"].is_string(), "{of_other}");
    // Each handler is told that nobody answers, and ends.
    let home = kernel.stopped().await;
    let calls = home.calls().await;
    assert_eq!(calls.len(), 18);
    assert!(
        calls.iter().all(|(_, state)| state == "succeeded"),
        "{calls:?}"
    );
}

#[tokio::test]
async fn an_answer_that_comes_after_the_handlers_time_finds_how_the_call_ended() {
    let (kernel, [token, _]) = kernel("limits: { handler_seconds: 1 }").await;
    let asked = kernel.mcp(&token, &named(&Value::Null, None)).await.json();
    let state = &asked["result"]["requestState"];
    let id = {
        let calls = kernel.home.calls().await;
        assert_eq!(calls.len(), 1);
        calls
    };
    assert_eq!(id[0].1, "running");
    while kernel.home.calls().await[0].1 == "running" {
        tokio::task::yield_now().await;
    }
    let late = kernel
        .mcp(&token, &named(state, filled_in("blue")))
        .await
        .json();
    assert_eq!(super::refused(&late), "outcome_unknown");
}
