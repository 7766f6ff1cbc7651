//! Questions by the revision without sessions: the request ends with the question, and the call goes on with its answer.

// Of a person's program and of its model.
#![expect(deprecated)]

use std::sync::{Arc, Mutex};

use actum::caller::{Caller, Question, Reply};
use actum::{ActionError, Call, Registry, action};
use rmcp::model::{
    CallToolRequestParams, ClientCapabilities, ClientConfig, CreateMessageRequestParams,
    CreateMessageResult, ElicitRequestParams, ElicitResult, ElicitationAction, ErrorData,
    Implementation, ListRootsResult, Root, SamplingMessage,
};
use rmcp::service::RequestContext;
use rmcp::{ClientHandler, RoleClient};
use serde_json::{Value, json};

use super::support::home::{Authority, Home};
use super::support::kernel::Here;
use super::{connected, discovered, sessionless};

/// The calls that the handler ran for.
static RUNS: Mutex<Vec<String>> = Mutex::new(Vec::new());

#[action(id = "questions.name", description = "Name a colour.")]
async fn name(call: &Call, caller: &Caller) -> Result<String, ActionError> {
    RUNS.lock().unwrap().push(call.request_id.to_string());
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

#[action(id = "questions.many", description = "Ask many things.")]
async fn many(caller: &Caller) -> Result<String, ActionError> {
    let form = json!({"type": "object", "properties": {"colour": {"type": "string"}}});
    let replies = caller
        .ask([
            ("colour", Question::form("Which colour?", form)),
            ("word", Question::model("A word?", 20)),
            ("folders", Question::Roots),
            ("word", Question::model("Another word?", 20)),
        ])
        .await;
    let told = replies.map(|reply| match reply {
        Ok(Reply::Accepted(_)) => "Accepted".to_owned(),
        Ok(Reply::Written(text)) => text,
        Ok(Reply::Roots(roots)) => roots[0].uri.clone(),
        Ok(other) => format!("{other:?}"),
        Err(cannot) => cannot.to_string(),
    });
    Ok(told.join("; "))
}

#[action(id = "questions.needs", description = "Need a model.")]
async fn needs(caller: &Caller) -> Result<String, ActionError> {
    Ok(caller.sample("A word?", 20).await?)
}

async fn kernel(more: &str) -> (Here, [String; 2]) {
    let authority = Authority {
        name: "work",
        allowed: &[
            "questions.name",
            "questions.read",
            "questions.many",
            "questions.needs",
        ],
        ..Authority::default()
    };
    let registry = Registry::new(actum::actions![name, pick, many, needs], []).unwrap();
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
        params["inputResponses"] = answer;
    }
    let mut request = sessionless(method, params);
    request["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"] =
        json!({"elicitation": {"form": {}}, "sampling": {}, "roots": {}});
    request
}

fn named(state: &Value, answer: Option<Value>) -> Value {
    let params = json!({"name": "questions-name", "arguments": {}});
    able("tools/call", params, state, answer)
}

fn filled_in(colour: &str) -> Option<Value> {
    Some(json!({"form": {"action": "accept", "content": {"colour": colour}}}))
}

#[derive(Clone, Default)]
struct Person(Arc<Mutex<Vec<String>>>);

impl ClientHandler for Person {
    fn get_info(&self) -> ClientConfig {
        let capabilities = ClientCapabilities::builder()
            .enable_elicitation()
            .enable_sampling()
            .enable_roots()
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

    async fn list_roots(
        &self,
        _: RequestContext<RoleClient>,
    ) -> Result<ListRootsResult, ErrorData> {
        Ok(ListRootsResult::new(vec![Root::new("file:///share")]))
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
    let asked = kernel.mcp(&token, &named(&Value::Null, None)).await.json();
    let asked = &asked["result"];
    assert_eq!(asked["resultType"], "input_required", "{asked}");
    let question = &asked["inputRequests"]["form"];
    assert_eq!(question["method"], "elicitation/create");
    assert_eq!(question["params"]["message"], "Which colour?");
    assert_eq!(
        question["params"]["requestedSchema"]["required"],
        json!(["colour"])
    );

    // Without its answer it is asked again, and what is none is told by its name.
    let state = &asked["requestState"];
    for nothing in [None, Some(json!({"other": {"action": "decline"}}))] {
        let again = kernel.mcp(&token, &named(state, nothing)).await.json();
        assert_eq!(&again["result"], asked);
    }
    for odd in [json!(4711), json!({"action": "sing"}), Value::Null] {
        let odd = Some(json!({"form": odd}));
        let refused = kernel.mcp(&token, &named(state, odd)).await.json();
        assert_eq!(refused["error"]["code"], -32602, "{refused}");
        let told = refused["error"]["message"].as_str().unwrap();
        assert!(told.starts_with("inputResponses.form: "), "{told}");
    }
    // Of another task, of another call, and of what was never asked.
    let with_more = json!({"name": "questions-name", "arguments": {"more": 1}});
    let foreign = [
        (&other, named(state, filled_in("red"))),
        (
            &token,
            able("tools/call", with_more, state, filled_in("red")),
        ),
        (&token, named(&json!("never"), filled_in("red"))),
    ];
    for (token, request) in foreign {
        let refused = kernel.mcp(token, &request).await.json();
        assert_eq!(refused["error"]["code"], -32602, "{refused}");
        let told = refused["error"]["message"].as_str().unwrap();
        assert!(told.contains("requestState"), "{told}");
    }

    let second = kernel
        .mcp(&token, &named(state, filled_in("green")))
        .await
        .json();
    let second = &second["result"];
    let question = &second["inputRequests"]["model"];
    assert_eq!(question["method"], "sampling/createMessage");
    assert_eq!(
        question["params"]["messages"][0]["content"]["text"],
        "A word for green?"
    );
    // What was answered is not asked any more.
    let late = kernel.mcp(&token, &named(state, filled_in("red"))).await;
    assert_eq!(late.json()["error"]["code"], -32602, "{}", late.text());
    let written = json!({"model": {
        "role": "assistant", "model": "m", "content": {"type": "text", "text": "lime"},
    }});
    let done = kernel
        .mcp(&token, &named(&second["requestState"], Some(written)))
        .await
        .json();
    assert_eq!(done["result"]["content"][0]["text"], "green is lime");
    let id = done["result"]["_meta"]["actum/request_id"].clone();
    let runs = RUNS.lock().unwrap().clone();
    assert_eq!(runs.iter().filter(|run| id == **run).count(), 1);

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
async fn a_handler_is_told_that_nobody_answers_and_that_nobody_can_be_asked() {
    let (kernel, [token, _]) = kernel("").await;
    for (answer, told) in [("decline", "Declined"), ("cancel", "Dismissed")] {
        let asked = kernel.mcp(&token, &named(&Value::Null, None)).await.json();
        let state = &asked["result"]["requestState"];
        let answer = json!({"form": {"action": answer}});
        let done = kernel.mcp(&token, &named(state, Some(answer))).await;
        assert_eq!(done.at("/result/content/0/text"), told);
    }
    let params = json!({"name": "questions-name", "arguments": {}});
    let nobody = kernel.mcp(&token, &sessionless("tools/call", params)).await;
    let text = nobody.at("/result/content/0/text");
    assert_eq!(
        text,
        "the worker cannot be asked: its program shows no forms"
    );
    // One that cannot do without says what its client would need.
    let params = json!({"name": "questions-needs", "arguments": {}});
    let lacking = sessionless("tools/call", params.clone());
    let lacking = kernel.mcp(&token, &lacking).await;
    assert_eq!(lacking.status, 400);
    let error = lacking.json()["error"].clone();
    assert_eq!(error["code"], -32021);
    assert_eq!(
        error["data"]["requiredCapabilities"],
        json!({"sampling": {}})
    );
    let by_http = kernel.ask(&token, "questions.needs", json!({})).await;
    by_http.refused_with_more(422, "operation_unsupported", "operation_failed");
}

#[tokio::test]
async fn what_is_asked_at_once_is_answered_together_or_one_by_one() {
    let (kernel, [token, _]) = kernel("").await;
    let params = json!({"name": "questions-many", "arguments": {}});
    let ask = |state: &Value, answer| able("tools/call", params.clone(), state, answer);
    let asked = kernel.mcp(&token, &ask(&Value::Null, None)).await.json();
    let asked = &asked["result"];
    let named: Vec<_> = asked["inputRequests"].as_object().unwrap().iter().collect();
    let methods: Vec<_> = named
        .iter()
        .map(|(name, asked)| (name.as_str(), asked["method"].as_str().unwrap()))
        .collect();
    assert_eq!(
        methods,
        [
            ("colour", "elicitation/create"),
            ("folders", "roots/list"),
            ("word", "sampling/createMessage")
        ]
    );
    let state = &asked["requestState"];
    let first = Some(json!({
        "folders": {"roots": [{"uri": "file:///share", "name": "Share"}]},
        "colour": {"action": "decline"},
    }));
    let rest = kernel.mcp(&token, &ask(state, first)).await.json();
    let rest = rest["result"]["inputRequests"].as_object().unwrap().clone();
    assert_eq!(rest.keys().collect::<Vec<_>>(), ["word"]);
    let last = Some(json!({"word": {
        "role": "assistant", "model": "m", "content": {"type": "text", "text": "lime"},
    }}));
    let done = kernel.mcp(&token, &ask(state, last)).await;
    assert_eq!(
        done.at("/result/content/0/text"),
        "Declined; lime; file:///share; the worker cannot be asked: two questions are named `word`"
    );
    // By a session they are asked one after the other.
    let client = connected(&kernel, &token, Person::default()).await;
    let call = CallToolRequestParams::new("questions-many");
    let done = client.call_tool(call).await.unwrap();
    assert_eq!(
        done.content[0].as_text().unwrap().text,
        "Accepted; azure; file:///share; azure"
    );
    client.cancel().await.unwrap();
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
        let declined = Some(json!({"form": {"action": "decline"}}));
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
