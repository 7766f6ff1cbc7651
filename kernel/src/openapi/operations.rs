//! Every operation of `/v1`, in the order of the router.

use serde_json::{Value, json};

use super::shapes::Shapes;
use super::{Key, Operation};
use crate::ingress::PostedEvent;
use crate::owner::SelectionBody;
use crate::owner::approvals::{DecisionBody, EditBody, RenewBody, ToldCall};
use crate::owner::artifacts::ToldArtifact;
use crate::owner::previews::ToldPreview;
use crate::owner::settle::FindingBody;
use crate::store::Message;
use crate::worker::CallBody;

/// All of them.
pub(super) fn all(shapes: &mut Shapes) -> Vec<Operation> {
    let mut all = vec![
        events(shapes),
        task(shapes),
        call(shapes),
        call_state(shapes),
        cancel(shapes),
    ];
    all.extend(of_owner(shapes));
    all.extend(of_calls(shapes));
    all.extend(of_artifacts(shapes));
    all
}

fn operation(method: &'static str, path: &'static str, name: &'static str, key: Key) -> Operation {
    Operation {
        method,
        path,
        name,
        told: "",
        key,
        query: Vec::new(),
        body: None,
        answers: Vec::new(),
        refusals: &[],
    }
}

fn query(name: &str, told: &str, schema: Value) -> Value {
    json!({"name": name, "in": "query", "description": told, "schema": schema})
}

fn events(shapes: &mut Shapes) -> Operation {
    Operation {
        told: "Hand in an event; a task begins where it leads to one.",
        body: Some(shapes.read::<PostedEvent>()),
        answers: vec![(
            201,
            "The task that began, with its token, which is shown this once.",
            shapes.begun(),
        )],
        refusals: &[403],
        ..operation("post", "/v1/events", "post_event", Key::Connector)
    }
}

fn task(shapes: &mut Shapes) -> Operation {
    let provider = json!({
        "type": "string",
        "enum": actum::provider::Provider::ALL.map(actum::provider::Provider::as_str),
    });
    Operation {
        told: "The task, and exactly the tools that it may call.",
        query: vec![query(
            "tools",
            "Have the tools in the shape that this provider's API takes.",
            provider,
        )],
        answers: vec![(200, "The task.", shapes.task())],
        refusals: &[400],
        ..operation("get", "/v1/task", "get_task", Key::Task)
    }
}

fn call(shapes: &mut Shapes) -> Operation {
    Operation {
        told: "Call an action, by its id or by its tool's name.",
        body: Some(shapes.read::<CallBody>()),
        answers: vec![
            (
                200,
                "It ran, or had run under its key, or its effects are suppressed.",
                shapes.called(),
            ),
            (
                202,
                "It waits for a person; what becomes of it is at `status_url`.",
                shapes.waits(),
            ),
        ],
        refusals: &[403, 404, 409, 422],
        ..operation("post", "/v1/actions", "call_action", Key::Task)
    }
}

fn call_state(shapes: &mut Shapes) -> Operation {
    Operation {
        told: "What became of a call of this task.",
        answers: vec![(200, "The call.", shapes.call_state())],
        refusals: &[404],
        ..operation("get", "/v1/actions/{id}", "get_call", Key::Task)
    }
}

fn cancel(shapes: &mut Shapes) -> Operation {
    Operation {
        told: "Take back a call that waits: it never runs.",
        answers: vec![(200, "The call.", shapes.call_state())],
        refusals: &[404, 409],
        ..operation("post", "/v1/actions/{id}/cancel", "cancel_call", Key::Task)
    }
}

fn of_owner(shapes: &mut Shapes) -> Vec<Operation> {
    // As far as they are read.
    let after = json!({"type": "integer", "minimum": i64::MIN, "maximum": i64::MAX});
    let wait = json!({"type": "integer", "minimum": 0, "maximum": u64::MAX});
    let newer = |name: &str, told: &str, shapes: &Shapes| query(name, told, shapes.id());
    vec![
        Operation {
            told: "The messages to the owner, as they come in.",
            query: vec![
                query("after", "Those after this one, by `seq`.", after),
                query(
                    "wait",
                    "Seconds to wait for the first, at most 20 and half of `limits.request_seconds`.",
                    wait,
                ),
                newer(
                    "calls_after",
                    "Also the calls that wait and are newer than this one.",
                    shapes,
                ),
                newer(
                    "previews_after",
                    "Also the drafts that are newer than this one.",
                    shapes,
                ),
            ],
            answers: vec![(200, "The messages.", {
                let messages = shapes.written::<Vec<Message>>();
                let calls = shapes.written::<Vec<ToldCall>>();
                let previews = shapes.written::<Vec<ToldPreview>>();
                shapes.ok(
                    &[("messages", messages)],
                    &[("calls", calls), ("previews", previews)],
                )
            })],
            refusals: &[400],
            ..operation("get", "/v1/owner/messages", "get_messages", Key::Owner)
        },
        Operation {
            told: "The threads of the mailbox.",
            answers: vec![(200, "The threads.", shapes.threads())],
            refusals: &[422],
            ..operation("get", "/v1/owner/threads", "get_threads", Key::Owner)
        },
        Operation {
            told: "Select a mail thread; a task for it begins.",
            body: Some(shapes.read::<SelectionBody>()),
            answers: vec![(
                201,
                "The task that began, with its token, which is shown this once.",
                shapes.begun(),
            )],
            refusals: &[403, 404, 422],
            ..operation("post", "/v1/owner/selections", "select_thread", Key::Owner)
        },
        Operation {
            told: "Take a task back, with all that it commissioned.",
            answers: vec![(200, "It is over.", shapes.revoked())],
            refusals: &[404],
            ..operation(
                "post",
                "/v1/owner/tasks/{id}/revoke",
                "revoke_task",
                Key::Owner,
            )
        },
        Operation {
            told: "Have the manifests read anew.",
            answers: vec![(200, "What is in force.", shapes.reloaded())],
            refusals: &[422],
            ..operation(
                "post",
                "/v1/owner/manifests/reload",
                "reload_manifests",
                Key::Owner,
            )
        },
        Operation {
            told: "The drafts that workers showed, the newest first.",
            answers: vec![(200, "The drafts.", {
                let previews = shapes.written::<Vec<ToldPreview>>();
                shapes.ok(&[("previews", previews)], &[])
            })],
            ..operation("get", "/v1/owner/previews", "list_previews", Key::Owner)
        },
        Operation {
            told: "One draft.",
            answers: vec![(200, "The draft.", {
                let preview = shapes.written::<ToldPreview>();
                shapes.ok(&[("preview", preview)], &[])
            })],
            refusals: &[404],
            ..operation("get", "/v1/owner/previews/{id}", "get_preview", Key::Owner)
        },
    ]
}

fn of_calls(shapes: &mut Shapes) -> Vec<Operation> {
    let (told, decided) = (shapes.written::<ToldCall>(), shapes.decided());
    let instead = shapes.instead();
    let state = shapes.read::<crate::calls::State>();
    let decision = shapes.read::<DecisionBody>();
    let decide = |path, name, told| Operation {
        told,
        body: Some(decision.clone()),
        answers: vec![(200, "Where the call stands.", decided.clone())],
        refusals: &[403, 404, 409],
        ..operation("post", path, name, Key::Approver)
    };
    vec![
        Operation {
            told: "The calls in a state: those that wait, if none is named.",
            query: vec![query("state", "Which.", state)],
            answers: vec![(200, "The calls, at most 200.", {
                let calls = shapes.written::<Vec<ToldCall>>();
                shapes.ok(&[("calls", calls)], &[])
            })],
            refusals: &[400],
            ..operation("get", "/v1/owner/calls", "list_calls", Key::Approver)
        },
        Operation {
            told: "One call, with all that a decision on it is bound to.",
            answers: vec![(200, "The call.", shapes.ok(&[("call", told)], &[]))],
            refusals: &[404],
            ..operation("get", "/v1/owner/calls/{id}", "show_call", Key::Approver)
        },
        decide(
            "/v1/owner/calls/{id}/approve",
            "approve_call",
            "Let a call run, as it was seen.",
        ),
        decide(
            "/v1/owner/calls/{id}/reject",
            "reject_call",
            "Have a call never run.",
        ),
        Operation {
            told: "Put an edited call in the place of one that waits.",
            body: Some(shapes.read::<EditBody>()),
            answers: vec![(201, "The call that waits now.", instead.clone())],
            refusals: &[403, 404, 409],
            ..operation(
                "post",
                "/v1/owner/calls/{id}/edit",
                "edit_call",
                Key::Approver,
            )
        },
        Operation {
            told: "Say what became of a call of unknown outcome.",
            body: Some(shapes.read::<FindingBody>()),
            answers: vec![(200, "Where the call stands.", shapes.settled())],
            refusals: &[403, 404, 409],
            ..operation(
                "post",
                "/v1/owner/calls/{id}/settle",
                "settle_call",
                Key::Approver,
            )
        },
        Operation {
            told: "Put the same call, bound to what is in force now, in the place of one that waits.",
            body: Some(shapes.read::<RenewBody>()),
            answers: vec![(201, "The call that waits now.", instead)],
            refusals: &[403, 404, 409],
            ..operation(
                "post",
                "/v1/owner/calls/{id}/renew",
                "renew_call",
                Key::Approver,
            )
        },
    ]
}

fn of_artifacts(shapes: &mut Shapes) -> Vec<Operation> {
    let version = json!({"type": "integer", "minimum": 0, "maximum": u32::MAX});
    vec![
        Operation {
            told: "The manifests that were proposed and approved.",
            answers: vec![(200, "The artifacts.", {
                let artifacts = shapes.written::<Vec<ToldArtifact>>();
                shapes.ok(
                    &[("revision", shapes.digest()), ("artifacts", artifacts)],
                    &[],
                )
            })],
            ..operation("get", "/v1/owner/artifacts", "list_artifacts", Key::Owner)
        },
        Operation {
            told: "One version of an artifact: the active one or the newest, if none is named.",
            query: vec![query("version", "Which.", version)],
            answers: vec![(200, "The version, with its text.", {
                let artifact = shapes.written::<ToldArtifact>();
                let text = || json!({"type": "string"});
                shapes.ok(
                    &[("artifact", artifact), ("text", text()), ("lines", text())],
                    &[],
                )
            })],
            refusals: &[400, 404],
            ..operation(
                "get",
                "/v1/owner/artifacts/{kind}/{id}",
                "get_artifact",
                Key::Owner,
            )
        },
        Operation {
            told: "Sign the ledger as it is now.",
            answers: vec![(200, "The newest checkpoint.", shapes.signed())],
            ..operation(
                "post",
                "/v1/owner/ledger/checkpoint",
                "sign_ledger",
                Key::Owner,
            )
        },
    ]
}
