//! What is read at addresses and chosen as prompts, by rmcp's client: calls of actions, and nothing else.

// Subscriptions of the revisions that have sessions.
#![expect(deprecated)]

use std::sync::{Arc, Mutex};

use actum::content::{Block, Content};
use actum::{ActionError, Registry, action};
use actum_kernel::handle::KernelHandle;
use rmcp::model::{
    ArgumentInfo, CompleteRequestParams, GetPromptRequestParams, ReadResourceRequestParams,
    Reference, ResourceUpdatedNotificationParam, SubscribeRequestParams, UnsubscribeRequestParams,
};
use rmcp::service::NotificationContext;
use rmcp::{ClientHandler, RoleClient};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::support::home::{Authority, Home};
use super::support::kernel::Here;
use super::{PREVIEW, SOON, Stream, call, connected, decide, draft, message, owner, sessionless};

#[derive(Deserialize, JsonSchema)]
struct Named {
    /// Which one.
    name: Name,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Name {
    Today,
    Tomorrow,
    Never,
}

#[action(
    id = "note.read",
    title = "A note",
    description = "Read a note.",
    read_only,
    resource = "note:{name}",
    prompt
)]
async fn note(ask: Named) -> Result<Content, ActionError> {
    match ask.name {
        Name::Today => Ok(Content::text("Buy bread.").and(Block::image(b"pixels", "image/png"))),
        Name::Tomorrow => Ok(Content::text("Buy tea.")),
        Name::Never => Err(ActionError::failed("there is no such day: 4711")),
    }
}

#[action(
    id = "note.count",
    description = "Count the notes.",
    read_only,
    resource = "note:count"
)]
async fn count() -> Result<u8, ActionError> {
    Ok(2)
}

#[action(
    id = "note.secret",
    description = "Read a secret note.",
    read_only,
    resource = "secret:note",
    prompt
)]
async fn secret() -> Result<String, ActionError> {
    Ok("not for you".to_owned())
}

#[action(
    id = "note.slow",
    description = "Read what a person has to let out.",
    read_only,
    resource = "slow:note",
    prompt
)]
async fn slow() -> Result<String, ActionError> {
    Ok("late".to_owned())
}

#[action(id = "note.change", description = "Change the notes.")]
async fn change(kernel: &KernelHandle) -> Result<(), ActionError> {
    for uri in ["note:today", "secret:note"] {
        kernel.announce(uri);
    }
    Ok(())
}

async fn kernel() -> (Here, String) {
    let authority = Authority {
        name: "work",
        allowed: &["note.read", "note.count", "note.change"],
        approval: &["note.slow"],
        ..Authority::default()
    };
    let actions = actum::actions![note, count, secret, slow, change];
    let registry = Registry::new(actions, []).unwrap();
    let home = Home::desk("chat", &[authority], "");
    let kernel = Here::start_with(home, |builder| builder.registry(registry)).await;
    let event = json!({"event_type": "work", "channel_account": "desk"});
    let token = kernel.begin("desk", &event).await.token;
    (kernel, token)
}

fn reading(uri: &str) -> ReadResourceRequestParams {
    ReadResourceRequestParams::new(uri)
}

#[tokio::test]
async fn what_a_grant_has_is_listed_and_nothing_else_is_there() {
    let (kernel, token) = kernel().await;
    let client = connected(&kernel, &token, ()).await;
    let resources = client.list_all_resources().await.unwrap();
    let uris: Vec<_> = resources.iter().map(|it| it.uri.as_str()).collect();
    assert_eq!(uris, ["note:count"]);
    let templates = client.list_all_resource_templates().await.unwrap();
    let uris: Vec<_> = templates
        .iter()
        .map(|it| it.uri_template.as_str())
        .collect();
    assert_eq!(uris, ["note:{name}", "actum://calls/{request_id}"]);
    assert_eq!(templates[0].title.as_deref(), Some("A note"));
    let prompts = client.list_all_prompts().await.unwrap();
    assert_eq!(prompts.len(), 1, "{prompts:?}");
    assert_eq!(prompts[0].name, "note-read");
    let arguments = prompts[0].arguments.clone().unwrap();
    assert_eq!(arguments[0].name, "name");
    assert_eq!(arguments[0].description.as_deref(), Some("Which one."));
    assert_eq!(arguments[0].required, Some(true));

    // Not granted, waiting for a person, and never there: one answer.
    let absent = async |method: &str, params: Value| {
        let answer = kernel.mcp(&token, &message(method, params)).await;
        answer.json()["error"].clone()
    };
    let nowhere = absent("resources/read", json!({"uri": "never:was"})).await;
    for uri in [
        "secret:note",
        "slow:note",
        "note:a/b",
        "note:",
        "actum://calls/1",
    ] {
        assert_eq!(
            absent("resources/read", json!({"uri": uri})).await,
            nowhere,
            "{uri}"
        );
    }
    let nothing = absent("prompts/get", json!({"name": "never-was"})).await;
    for name in ["note-secret", "note-slow", "note-count"] {
        let told = absent("prompts/get", json!({"name": name})).await;
        let as_never = told.to_string().replace(name, "never-was");
        assert_eq!(as_never, nothing.to_string());
    }
    let ledger = kernel.home.ledger().await;
    assert!(ledger.iter().all(|(kind, _)| kind != "call_started"));
    client.cancel().await.unwrap();
}

#[tokio::test]
async fn reading_and_choosing_are_calls_that_are_recorded() {
    let (kernel, token) = kernel().await;
    let client = connected(&kernel, &token, ()).await;
    let read = client.read_resource(reading("note:today")).await.unwrap();
    let read = serde_json::to_value(read.contents).unwrap();
    let image = data_encoding::BASE64.encode(b"pixels");
    assert_eq!(
        read,
        json!([
            {"uri": "note:today", "mimeType": "text/plain", "text": "Buy bread."},
            {"uri": "note:today", "mimeType": "image/png", "blob": image},
        ])
    );
    let counted = client.read_resource(reading("note:count")).await.unwrap();
    let counted = serde_json::to_value(counted.contents).unwrap();
    let two = json!([{"uri": "note:count", "mimeType": "application/json", "text": "2"}]);
    assert_eq!(counted, two);

    let arguments = json!({"name": "tomorrow"}).as_object().unwrap().clone();
    let asked = GetPromptRequestParams::new("note-read").with_arguments(arguments);
    let got = client.get_prompt(asked).await.unwrap();
    let said = serde_json::to_value(got.messages).unwrap();
    let tea = json!([{"role": "user", "content": {"type": "text", "text": "Buy tea."}}]);
    assert_eq!(said, tea);

    // What fails and what does not fit, in the words of any call.
    let told = client
        .read_resource(reading("note:never"))
        .await
        .unwrap_err();
    let told = told.to_string();
    assert!(
        told.contains("operation_failed") && !told.contains("4711"),
        "{told}"
    );
    let told = client
        .read_resource(reading("note:yesterday"))
        .await
        .unwrap_err();
    assert!(told.to_string().contains("input_invalid"), "{told}");
    let told = client
        .get_prompt(GetPromptRequestParams::new("note-read"))
        .await;
    assert!(told.unwrap_err().to_string().contains("input_invalid"));
    client.cancel().await.unwrap();

    let calls = kernel.home.calls().await;
    let wanted = [
        ("note.read", "succeeded"),
        ("note.count", "succeeded"),
        ("note.read", "succeeded"),
        ("note.read", "failed"),
    ];
    assert_eq!(
        calls,
        wanted.map(|(id, state)| (id.to_owned(), state.to_owned()))
    );
}

#[tokio::test]
async fn an_argument_goes_on_with_what_its_schema_names() {
    let (kernel, token) = kernel().await;
    let client = connected(&kernel, &token, ()).await;
    let complete = async |reference: Reference, begun: &str| {
        let argument = ArgumentInfo::new("name", begun);
        let asked = CompleteRequestParams::new(reference, argument);
        client.complete(asked).await.map(|it| it.completion.values)
    };
    for reference in [
        Reference::for_prompt("note-read"),
        Reference::for_resource("note:{name}"),
    ] {
        let all = complete(reference.clone(), "").await.unwrap();
        assert_eq!(all, ["today", "tomorrow", "never"]);
        let begun = complete(reference, "to").await.unwrap();
        assert_eq!(begun, ["today", "tomorrow"]);
    }
    for reference in [
        Reference::for_prompt("note-secret"),
        Reference::for_resource("secret:note"),
        Reference::for_resource("note:today"),
    ] {
        assert!(complete(reference, "").await.is_err());
    }
    client.cancel().await.unwrap();
}

/// A client that notes what it is told to read anew.
#[derive(Clone, Default)]
struct Watching(Arc<Mutex<Vec<String>>>);

impl Watching {
    /// Waits until it was told of something, and takes it.
    async fn told(&self) -> Vec<String> {
        let waiting = async {
            while self.0.lock().unwrap().is_empty() {
                tokio::task::yield_now().await;
            }
        };
        let waited = tokio::time::timeout(SOON, waiting).await;
        waited.expect("it is told");
        std::mem::take(&mut *self.0.lock().unwrap())
    }
}

impl ClientHandler for Watching {
    async fn on_resource_updated(
        &self,
        told: ResourceUpdatedNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        self.0.lock().unwrap().push(told.uri);
    }
}

#[tokio::test]
async fn whoever_watches_is_told_of_what_it_may_read_and_of_nothing_else() {
    let (kernel, token) = kernel().await;
    let watching = Watching::default();
    let client = connected(&kernel, &token, watching.clone()).await;
    let subscribe = async |uri: &str| client.subscribe(SubscribeRequestParams::new(uri)).await;
    for uri in ["note:today", "note:tomorrow"] {
        subscribe(uri).await.unwrap();
    }
    assert!(subscribe("secret:note").await.is_err());
    assert!(subscribe("never:was").await.is_err());
    kernel.mcp(&token, &call("note-change", json!({}))).await;
    assert_eq!(watching.told().await, ["note:today"]);
    let unsubscribed = UnsubscribeRequestParams::new("note:today");
    client.unsubscribe(unsubscribed).await.unwrap();
    subscribe("note:count").await.unwrap();
    kernel.mcp(&token, &call("note-change", json!({}))).await;
    // Of the next change that it watches it hears, and of the one before it did not.
    subscribe("note:today").await.unwrap();
    kernel.mcp(&token, &call("note-change", json!({}))).await;
    assert_eq!(watching.told().await, ["note:today"]);
    client.cancel().await.unwrap();
}

#[tokio::test]
async fn a_client_without_a_session_watches_too() {
    let (kernel, token) = kernel().await;
    let wanted = json!({"resourceSubscriptions": ["note:today"]});
    let mut stream = Stream::listen(&kernel, &token, wanted).await;
    stream
        .hear("notifications/subscriptions/acknowledged")
        .await;
    kernel.mcp(&token, &call("note-change", json!({}))).await;
    let told = stream.hear("notifications/resources/updated").await;
    assert!(
        told.contains("note:today") && !told.contains("secret:note"),
        "{told}"
    );
}

#[tokio::test]
async fn a_call_that_waits_can_be_watched_until_it_is_through() {
    let kernel = Here::start(Home::sample()).await;
    let task = owner(&kernel).await;
    let watching = Watching::default();
    let client = connected(&kernel, &task.token, watching.clone()).await;
    let waits = kernel
        .mcp(&task.token, &call(PREVIEW, draft()))
        .await
        .json();
    let waits = waits["result"]["structuredContent"].clone();
    let uri = waits["resource"].as_str().unwrap();
    client
        .subscribe(SubscribeRequestParams::new(uri))
        .await
        .unwrap();
    decide(&kernel, waits["request_id"].as_str().unwrap(), "approve").await;
    assert_eq!(watching.told().await, [uri]);
    let read = client.read_resource(reading(uri)).await.unwrap();
    let text = serde_json::to_value(read.contents).unwrap()[0]["text"].clone();
    assert!(
        text.as_str().unwrap().contains("\"state\":\"succeeded\""),
        "{text}"
    );
    client.cancel().await.unwrap();
}

#[tokio::test]
async fn the_revision_without_sessions_has_the_same_lists_with_how_long_they_hold() {
    let (kernel, token) = kernel().await;
    for (method, list) in [
        ("resources/list", "resources"),
        ("resources/templates/list", "resourceTemplates"),
        ("prompts/list", "prompts"),
    ] {
        let with = kernel.mcp(&token, &message(method, json!({}))).await.json();
        let without = kernel.mcp(&token, &sessionless(method, json!({}))).await;
        let without = without.json();
        assert_eq!(with["result"][list], without["result"][list], "{method}");
        assert_eq!(without["result"]["cacheScope"], "private", "{without}");
        assert_eq!(without["result"]["ttlMs"], 60_000, "{without}");
        assert_eq!(with["result"].as_object().unwrap().len(), 1, "{with}");
    }
    let read = kernel
        .mcp(
            &token,
            &sessionless("resources/read", json!({"uri": "note:count"})),
        )
        .await;
    assert_eq!(
        read.json()["result"]["contents"][0]["text"],
        "2",
        "{read:?}"
    );
}
