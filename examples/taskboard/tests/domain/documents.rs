//! Documents and what else a task holds.

use actum_taskboard::BoardError;
use actum_taskboard::actions::{documents, task};
use actum_taskboard::store::document::Revision;
use serde_json::{Value, json};

use crate::support::{Place, ask, call};

/// Ada writes the plan.
pub async fn write(place: &Place, body: &str, base: Option<&str>) -> Result<Revision, BoardError> {
    let text = json!({"key": "plan", "title": "Plan", "body": body, "baseRevisionId": base});
    documents::write_document(&place.board, &call("ada"), ask(text)).await
}

/// A question of the model's about a revision.
pub fn question(revision: &str) -> Value {
    json!({
        "interactionKind": "confirmation", "title": "The plan", "prompt": "Is it good?",
        "continuationPolicy": "wake_assignee", "targetRevisionId": revision,
    })
}

/// A file of the model's.
pub fn file(sha256: &str, byte_size: u64) -> Value {
    json!({
        "filename": "plan.pdf", "contentType": "application/pdf", "byteSize": byte_size,
        "sha256": sha256, "contentRef": "files/1", "title": "The plan",
    })
}

#[tokio::test]
async fn a_text_over_an_older_revision_is_refused_and_changes_nothing() {
    let place = Place::new().await;
    place.active_task("ada", "Write the plan", &[]).await;
    let first = write(&place, "one", None).await.unwrap();
    let second = write(&place, "two", Some(&first.id)).await.unwrap();
    assert_eq!(second.number, 2);

    for base in [None, Some(first.id.as_str()), Some("of no document")] {
        let refused = write(&place, "three", base).await.unwrap_err();
        assert!(
            matches!(&refused, BoardError::StaleBase { newest: Some(newest), .. } if *newest == second.id),
            "{base:?}: {refused}"
        );
    }
    let key = || ask(json!({"key": "plan"}));
    let read = documents::read_document(&place.board, &call("ada"), key())
        .await
        .unwrap();
    assert_eq!((read.body.as_str(), &read.revision_id), ("two", &second.id));
    let revisions = documents::list_document_revisions(&place.board, &call("ada"), key()).await;
    assert_eq!(revisions.unwrap(), [second.clone(), first]);
    let listed = documents::list_documents(&place.board, &call("ada"))
        .await
        .unwrap();
    assert_eq!(listed, [second]);
}

#[tokio::test]
async fn of_two_at_once_one_is_refused_and_neither_is_lost() {
    let place = Place::new().await;
    place.active_task("ada", "Write the plan", &[]).await;
    let (one, two) = tokio::join!(write(&place, "one", None), write(&place, "two", None));
    let (written, refused) = match (one, two) {
        (Ok(written), Err(refused)) | (Err(refused), Ok(written)) => (written, refused),
        both => panic!("{both:?}"),
    };
    assert!(
        matches!(&refused, BoardError::StaleBase { newest: Some(newest), .. } if *newest == written.id),
        "{refused}"
    );
}

#[tokio::test]
async fn a_person_is_asked_about_a_revision_of_the_same_task_alone() {
    let place = Place::new().await;
    place.active_task("ada", "Write the plan", &[]).await;
    place.active_task("bert", "Read the plan", &[]).await;
    let revision = write(&place, "one", None).await.unwrap();
    for (actor, revision) in [("bert", revision.id.as_str()), ("ada", "of nothing")] {
        let asked = ask(question(revision));
        let asked = task::request_human_input(&place.board, &call(actor), asked).await;
        assert!(
            matches!(asked, Err(BoardError::Missing { .. })),
            "{asked:?}"
        );
    }
    let asked = ask(question(&revision.id));
    task::request_human_input(&place.board, &call("ada"), asked)
        .await
        .unwrap();
}

#[tokio::test]
async fn a_deliverable_without_a_digest_and_a_size_that_can_be_is_refused() {
    let place = Place::new().await;
    place.active_task("ada", "Write the plan", &[]).await;
    let register = async |sha256: &str, byte_size| {
        let plan = ask(file(sha256, byte_size));
        task::register_deliverable(&place.board, &call("ada"), plan).await
    };
    let digest = "0f".repeat(32);
    for (sha256, byte_size) in [
        ("0F".repeat(32), 1),
        ("0f".repeat(31), 1),
        ("0g".repeat(32), 1),
        (digest.clone(), u64::MAX),
    ] {
        let refused = register(&sha256, byte_size).await;
        assert!(
            matches!(refused, Err(BoardError::Deliverable(_))),
            "{refused:?}"
        );
    }
    assert_eq!(register(&digest, 1).await.unwrap().sha256, digest);
}
