//! `tools/list` follows from the presented token alone.

use std::collections::BTreeSet;

use actum::action::{Action, Place};
use actum::{ActionError, Registry, action};
use serde_json::{Value, json};

use super::support::home::{Authority, Home};
use super::support::kernel::Here;
use super::{connected, message, owner, sessionless, stranger};

#[tokio::test]
async fn the_tools_are_those_of_the_token_and_no_other() {
    let kernel = Here::start(Home::sample()).await;
    for task in [owner(&kernel).await, stranger(&kernel).await] {
        let client = connected(&kernel, &task.token, ()).await;
        let tools = client.list_all_tools().await.unwrap();
        let names: Vec<&str> = tools.iter().map(|tool| tool.name.as_ref()).collect();
        assert_eq!(names, kernel.tools(&task.token).await);
        let shaped = kernel.get("/v1/task?tools=mcp", Some(&task.token)).await;
        let listed = kernel
            .mcp(&task.token, &message("tools/list", json!({})))
            .await;
        assert_eq!(
            listed.json()["result"]["tools"],
            shaped.json()["catalog"]["tools"]
        );
        client.cancel().await.unwrap();
    }
}

#[tokio::test]
async fn the_same_token_gives_the_same_bytes_and_the_ready_ones_say_what_rmcp_says() {
    let kernel = Here::start(Home::sample()).await;
    let token = owner(&kernel).await.token;
    for make in [message, sessionless] {
        let ready = kernel.mcp(&token, &make("tools/list", json!({}))).await;
        assert_eq!(ready.status, 200, "{}", ready.text());
        assert_eq!(
            kernel.mcp(&token, &make("tools/list", json!({}))).await,
            ready
        );
        // rmcp's own answer, which a negative id is left to.
        let mut doubtful = make("tools/list", json!({}));
        doubtful["id"] = json!(-7);
        let typed = kernel.mcp(&token, &doubtful).await;
        assert_eq!(typed.status, 200, "{}", typed.text());
        assert_eq!(typed.json()["result"], ready.json()["result"]);
    }
}

#[tokio::test]
async fn a_client_may_keep_a_list_as_long_as_the_operator_says_and_no_longer_than_the_task_lives() {
    let home = Home::sample();
    home.configure("mcp: { list_seconds: 120 }");
    let kernel = Here::start(home).await;
    let task = owner(&kernel).await;
    let list = sessionless("tools/list", json!({}));
    let listed = kernel.mcp(&task.token, &list).await.json();
    assert_eq!(listed["result"]["ttlMs"], 120_000);
    assert_eq!(listed["result"]["cacheScope"], "private");
    assert_eq!(listed["result"]["resultType"], "complete");
    kernel.pass(3_600 - 30);
    let listed = kernel.mcp(&task.token, &list).await.json();
    assert_eq!(listed["result"]["ttlMs"], 30_000);
    // Clients of before know no such thing.
    let listed = kernel
        .mcp(&task.token, &message("tools/list", json!({})))
        .await;
    let result = listed.json()["result"].clone();
    assert_eq!(result.as_object().unwrap().len(), 1, "{result}");
}

#[action(id = "kind.one", description = "Do one thing.", read_only)]
async fn one() -> Result<u8, ActionError> {
    Ok(1)
}

/// Copies of one action under many ids.
fn many(count: usize) -> Vec<&'static Action> {
    let [one] = actum::actions![one];
    let named = (0..count).map(|index| {
        let id: &'static str = Box::leak(format!("many.of{index:03}").into_boxed_str());
        let line = u32::try_from(index).unwrap() + 1;
        let at = Place {
            line,
            ..one.place()
        };
        let action = Action { id, at, ..*one };
        &*Box::leak(Box::new(action))
    });
    named.collect()
}

#[tokio::test]
async fn many_tools_come_in_pages_each_once_and_in_order() {
    let actions = many(250);
    let ids: Vec<&str> = actions.iter().map(|action| action.id()).collect();
    let authority = Authority {
        name: "work",
        allowed: &ids,
        ..Authority::default()
    };
    let registry = Registry::new(actions.clone(), []).unwrap();
    let home = Home::desk("chat", &[authority], "");
    let kernel = Here::start_with(home, |builder| builder.registry(registry)).await;
    let event = json!({"event_type": "work", "channel_account": "desk"});
    let token = kernel.begin("desk", &event).await.token;

    let (mut cursor, mut pages, mut seen) = (None::<String>, 0, Vec::new());
    loop {
        let params = cursor.map_or(json!({}), |cursor| json!({"cursor": cursor}));
        let page = kernel
            .mcp(&token, &message("tools/list", params))
            .await
            .json();
        pages += 1;
        for tool in page["result"]["tools"].as_array().unwrap() {
            seen.push(tool["name"].as_str().unwrap().to_owned());
        }
        match &page["result"]["nextCursor"] {
            Value::String(next) => cursor = Some(next.clone()),
            none => {
                assert!(none.is_null());
                break;
            }
        }
    }
    assert_eq!(pages, 3);
    assert_eq!(seen.len(), 250);
    assert!(seen.is_sorted());
    assert_eq!(seen.iter().collect::<BTreeSet<_>>().len(), 250);
    let client = connected(&kernel, &token, ()).await;
    assert_eq!(client.list_all_tools().await.unwrap().len(), 250);
    client.cancel().await.unwrap();

    for never_given in ["", "nonsense", "bWFueQ==", "AAAA", "TWFueS5vZjAwMQ"] {
        let params = json!({"cursor": never_given});
        let refused = kernel
            .mcp(&token, &message("tools/list", params))
            .await
            .json();
        assert_eq!(refused["error"]["code"], -32602, "{never_given}: {refused}");
    }
}
