//! What concerns the company, and not one task.

use actum::action::ActionErrorKind;
use actum_taskboard::actions::{company, discovery, governance, secrets};
use actum_taskboard::store::approval::Decision;
use actum_taskboard::store::secret;
use actum_taskboard::{BoardError, CompanyApi};
use serde_json::json;

use crate::support::{Place, ask, call};

#[tokio::test]
async fn who_asks_for_an_approval_does_not_decide_it_and_it_is_decided_once() {
    let place = Place::new().await;
    let wanted = ask(json!({"approvalType": "spend", "payload": {"euros": 20}}));
    let asked = governance::request_approval(&place.board, &call("ada"), wanted)
        .await
        .unwrap();
    let decide = async |actor, decision| {
        let decision =
            ask(json!({"approvalId": asked.id, "decision": decision, "note": "So be it."}));
        governance::decide_approval(&place.board, &call(actor), decision).await
    };
    for decision in ["approved", "rejected", "cancelled"] {
        let refused = decide("ada", decision).await;
        assert!(
            matches!(refused, Err(BoardError::OwnRequest(_))),
            "{refused:?}"
        );
    }
    let comment = ask(json!({"approvalId": asked.id, "body": "Please."}));
    let comment = governance::comment_on_approval(&place.board, &call("ada"), comment).await;
    assert_eq!(comment.unwrap().author, "ada");

    let decided = decide("bert", "rejected").await.unwrap();
    assert_eq!(decided.decision, Some(Decision::Rejected));
    assert_eq!(decided.decided_by.as_deref(), Some("bert"));
    let again = decide("bert", "approved").await;
    assert!(
        matches!(again, Err(BoardError::Decided { .. })),
        "{again:?}"
    );
    let listed = governance::list_approvals(&place.board, &call("bert"))
        .await
        .unwrap();
    assert_eq!(listed, [decided]);
}

#[tokio::test]
async fn secrets_are_listed_without_values_and_read_by_name() {
    let place = Place::new().await;
    let mut work = place.control_plane().await;
    secret::keep(&mut work, "mail", "Sends mail.", "s3cret-sentinel")
        .await
        .unwrap();
    work.done(()).await.unwrap();
    let listed = secrets::list_secret_metadata(&place.board, &call("ada"))
        .await
        .unwrap();
    assert_eq!(listed[0].name, "mail");
    assert!(!serde_json::to_string(&listed).unwrap().contains("sentinel"));
    let read = async |name: &str| {
        secrets::read_secret_value(&place.board, &call("ada"), ask(json!({"name": name}))).await
    };
    let value = read("mail").await.unwrap();
    assert_eq!(value.value.expose(), "s3cret-sentinel");
    assert!(!format!("{value:?}").contains("sentinel"));
    assert!(matches!(read("fax").await, Err(BoardError::Missing { .. })));
    let export = company::export_company(&place.board, &call("ada"))
        .await
        .unwrap();
    assert!(!serde_json::to_string(&export).unwrap().contains("sentinel"));
}

#[tokio::test]
async fn the_company_is_administered_by_known_words_alone() {
    let place = Place::new().await;
    let administer = async |what: serde_json::Value| {
        company::administer_company(&place.board, &call("ada"), ask(what)).await
    };
    administer(json!({"action": "rename_company", "payload": {"name": "Bricks"}}))
        .await
        .unwrap();
    administer(json!({"action": "add_goal", "payload": {"title": "A roof"}}))
        .await
        .unwrap();
    let project = administer(json!({"action": "add_project", "payload": {"name": "House"}})).await;
    for wrong in [
        json!({"action": "close_company"}),
        json!({"action": "rename_company"}),
        json!({"action": "rename_company", "payload": {"name": "Bricks", "force": true}}),
    ] {
        let refused = administer(wrong).await;
        assert!(
            matches!(refused, Err(BoardError::Administration(_))),
            "{refused:?}"
        );
    }
    let projects = discovery::list_projects(&place.board, &call("ada"))
        .await
        .unwrap();
    assert_eq!(projects[0].id, project.unwrap().id);
    let goals = discovery::list_goals(&place.board, &call("ada"))
        .await
        .unwrap();
    assert_eq!(goals[0].title, "A roof");
    let export = company::export_company(&place.board, &call("ada"))
        .await
        .unwrap();
    assert_eq!(
        (export.name.as_str(), export.projects),
        ("Bricks", projects)
    );
    let agents = discovery::list_agents(&place.board, &call("ada"))
        .await
        .unwrap();
    assert_eq!(export.agents, agents);
    assert_eq!(agents.len(), 3);
}

#[tokio::test]
async fn a_request_that_says_two_things_is_not_sent_whoever_lets_it_through() {
    let request = |method: &str, path: &str| {
        ask(json!({"method": method, "path": path, "headers": {}, "body": {}}))
    };
    let none = CompanyApi::none();
    let refused = company::generic_api_request(&none, request("GET", "/")).await;
    assert_eq!(refused.unwrap_err().kind(), ActionErrorKind::Unavailable);
    // Nobody is there: whatever is sent is told as unavailable.
    let api = CompanyApi::at("http://127.0.0.1:1", actum_kernel::http::client()).unwrap();
    for (method, path, kind) in [
        ("GET", "/", ActionErrorKind::Unavailable),
        ("CONNECT", "/", ActionErrorKind::Failed),
        ("connect", "/", ActionErrorKind::Failed),
        ("G T", "/", ActionErrorKind::Failed),
        ("GET", "/a//b", ActionErrorKind::Failed),
        ("GET", "/../a", ActionErrorKind::Failed),
        ("GET", "//elsewhere/", ActionErrorKind::Failed),
    ] {
        let refused = company::generic_api_request(&api, request(method, path)).await;
        assert_eq!(refused.unwrap_err().kind(), kind, "{method} {path}");
    }
}
