//! `tools/call` is `mediate`, and says so in the protocol's words.

use rmcp::model::{CallToolRequestParams, ContentBlock, ReadResourceRequestParams};
use serde_json::{Value, json};

use super::support::home::Home;
use super::support::kernel::Here;
use super::{
    PREVIEW, READ, STATUS, call, connected, decide, draft, message, owner, refused, sessionless,
    stranger,
};

#[tokio::test]
async fn a_call_runs_is_recorded_and_comes_back_as_text_and_as_the_schema_says() {
    let kernel = Here::start(Home::sample()).await;
    let task = owner(&kernel).await;
    let client = connected(&kernel, &task.token, ()).await;
    let done = client
        .call_tool(CallToolRequestParams::new(STATUS))
        .await
        .unwrap();
    assert_eq!(done.is_error, Some(false));
    let structured = done.structured_content.unwrap();
    assert_eq!(structured["store"], "sqlite");
    let text = done.content[0].as_text().unwrap().text.clone();
    assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), structured);
    let tools = client.list_all_tools().await.unwrap();
    let tool = tools.iter().find(|tool| tool.name == STATUS).unwrap();
    let schema = Value::Object((**tool.output_schema.as_ref().unwrap()).clone());
    assert!(jsonschema::is_valid(&schema, &structured));
    client.cancel().await.unwrap();
    let calls = kernel.home.calls().await;
    assert_eq!(
        calls,
        [("openspine.status.read".to_owned(), "succeeded".to_owned())]
    );
}

#[tokio::test]
async fn a_tool_that_is_absent_answers_exactly_as_one_that_never_was() {
    let kernel = Here::start(Home::sample()).await;
    let token = stranger(&kernel).await.token;
    // Denied, out of reach, of another task, never dispatched, and never heard of.
    let absent = [
        "openspine-status-read",
        "openspine.status.read",
        "telegram-reply--owner_channel",
        READ,
        "connector-enable",
        "does-not-exist",
        "",
        "🌷",
    ];
    for make in [message, sessionless] {
        for name in absent {
            for arguments in [json!({}), json!({"text": "a"}), json!({"max_messages": 1})] {
                let params = json!({"name": name, "arguments": arguments});
                let answer = kernel.mcp(&token, &make("tools/call", params)).await;
                assert_eq!(answer.status, 200, "{}", answer.text());
                let told = format!("Unknown tool: {name}");
                let expected = json!({
                    "jsonrpc": "2.0", "id": 7, "error": {"code": -32602, "message": told},
                });
                assert_eq!(answer.json(), expected);
            }
        }
    }
    let ledger = kernel.home.ledger().await;
    let refused = ledger.iter().filter(|(kind, _)| kind == "call_refused");
    assert_eq!(refused.count(), 2 * 3 * absent.len());
}

#[tokio::test]
async fn what_does_not_fit_is_told_to_the_model_by_its_place() {
    let kernel = Here::start(Home::sample()).await;
    let token = owner(&kernel).await.token;
    let unfit = call("terminal-reply--owner_device", json!({"text": 1}));
    let answer = kernel.mcp(&token, &unfit).await.json();
    assert_eq!(refused(&answer), "input_schema_invalid");
    let text = answer["result"]["content"][0]["text"].as_str().unwrap();
    assert!(text.contains(r#""at":"/text""#), "{text}");
}

#[tokio::test]
async fn a_call_that_waits_says_so_and_is_followed_where_it_says() {
    let kernel = Here::start(Home::sample()).await;
    let (task, other) = (owner(&kernel).await, owner(&kernel).await);
    let client = connected(&kernel, &task.token, ()).await;
    let arguments = draft().as_object().unwrap().clone();
    for (decision, state) in [("approve", "succeeded"), ("reject", "rejected")] {
        let asked = CallToolRequestParams::new(PREVIEW).with_arguments(arguments.clone());
        let waits = client.call_tool(asked).await.unwrap();
        assert_eq!(waits.is_error, Some(false));
        let told = waits.structured_content.unwrap();
        assert_eq!(told["decision"], "approval_required");
        let ContentBlock::ResourceLink(link) = &waits.content[1] else {
            panic!("{:?}", waits.content);
        };
        assert_eq!(told["resource"], link.uri);

        let read = async |uri: &str| -> Value {
            let read = client.read_resource(ReadResourceRequestParams::new(uri));
            let contents = serde_json::to_value(&read.await.unwrap().contents[0]).unwrap();
            serde_json::from_str(contents["text"].as_str().unwrap()).unwrap()
        };
        assert_eq!(read(&link.uri).await["state"], "pending");
        decide(&kernel, told["request_id"].as_str().unwrap(), decision).await;
        let after = read(&link.uri).await;
        assert_eq!(after["state"], state);
        let by_http = kernel
            .state(&task.token, told["request_id"].as_str().unwrap())
            .await;
        assert_eq!(after, by_http.json());

        // It is there for its own task alone.
        let foreign = message("resources/read", json!({"uri": link.uri}));
        let never = message("resources/read", json!({"uri": "actum://calls/nonsense"}));
        let foreign = kernel.mcp(&other.token, &foreign).await;
        assert_eq!(foreign, kernel.mcp(&other.token, &never).await);
        assert!(foreign.json()["error"]["code"].is_number());
    }
    client.cancel().await.unwrap();
}

#[tokio::test]
async fn a_key_in_the_meta_makes_a_retry_the_first_call() {
    let kernel = Here::start(Home::sample()).await;
    let token = owner(&kernel).await.token;
    let ask = |text: &str, key: Value| {
        let params = json!({
            "name": "terminal-reply--owner_device", "arguments": {"text": text},
            "_meta": {"actum/idempotency_key": key},
        });
        message("tools/call", params)
    };
    let first = kernel.mcp(&token, &ask("Hello", json!("k-1"))).await.json();
    let again = kernel.mcp(&token, &ask("Hello", json!("k-1"))).await.json();
    assert_eq!(first["result"]["_meta"].get("actum/replayed"), None);
    assert_eq!(again["result"]["_meta"]["actum/replayed"], true);
    assert_eq!(
        again["result"]["_meta"]["actum/request_id"],
        first["result"]["_meta"]["actum/request_id"]
    );
    let other = kernel
        .mcp(&token, &ask("Good night", json!("k-1")))
        .await
        .json();
    assert_eq!(refused(&other), "idempotency_key_conflict");
    for no_key in [json!(""), json!("ä"), json!(1), json!(null)] {
        let answer = kernel.mcp(&token, &ask("Hello", no_key)).await.json();
        assert_eq!(answer["error"]["code"], -32602, "{answer}");
    }
    assert_eq!(kernel.messages().await, ["Hello"]);
}

#[tokio::test]
async fn the_one_selected_thread_is_read_with_its_token_in_the_meta_or_without_and_once() {
    let kernel = Here::start(Home::sample()).await;
    let ask = json!({"name": READ, "arguments": {"max_messages": 3}});
    let with = |token: &str| {
        let mut ask = ask.clone();
        ask["_meta"] = json!({"actum/selection_token": token});
        ask
    };
    for explicit in [true, false] {
        let task = kernel.select("pipe").await;
        let ask = match explicit {
            true => with(&task.selections[0]),
            false => ask.clone(),
        };
        let read = kernel
            .mcp(&task.token, &message("tools/call", ask.clone()))
            .await
            .json();
        assert_eq!(read["result"]["isError"], false, "{read}");
        assert!(read["result"]["structuredContent"]["messages"].is_array());
        let again = kernel
            .mcp(&task.token, &message("tools/call", ask))
            .await
            .json();
        assert_eq!(refused(&again), "selection_token_invalid");
    }
    // One that is no text is not taken for none.
    let task = kernel.select("pipe").await;
    let mut ask_amiss = ask.clone();
    ask_amiss["_meta"] = json!({"actum/selection_token": 1});
    let refused_amiss = kernel
        .mcp(&task.token, &message("tools/call", ask_amiss))
        .await
        .json();
    assert_eq!(refused_amiss["error"]["code"], -32602, "{refused_amiss}");
    // Of two that were selected the client has to say which.
    let thread = kernel.thread("pipe").await;
    let target = json!({"type": "email_thread", "id": thread});
    let event = json!({
        "event_type": "email.thread.selected", "channel_account": "robins-desk",
        "actor_hint": {"device_id": "robins-desk"}, "target_refs": [target, target],
    });
    let task = kernel.begin("owner_terminal", &event).await;
    assert_eq!(task.selections.len(), 2);
    let unsaid = message("tools/call", ask.clone());
    let answer = kernel.mcp(&task.token, &unsaid).await.json();
    assert_eq!(refused(&answer), "selection_token_invalid");
    let said = message("tools/call", with(&task.selections[1]));
    let read = kernel.mcp(&task.token, &said).await.json();
    assert_eq!(read["result"]["isError"], false, "{read}");
    // Another's token is not taken for the own one.
    let (one, two) = (kernel.select("pipe").await, kernel.select("pipe").await);
    let stolen = message("tools/call", with(&two.selections[0]));
    let answer = kernel.mcp(&one.token, &stolen).await.json();
    assert_eq!(refused(&answer), "selection_token_invalid");
}
