//! Versions of manifests: one at most of each kind and id is active, and each change goes on from what its maker saw.

use actum::Digest;
use actum::authority::{Artifact, ManifestKind};
use actum_kernel::ledger::Kind;
use actum_kernel::store::{ArtifactState, NewArtifact, Revocation, Store};
use serde_json::json;
use ulid::Ulid;

use crate::backend::Opened;
use crate::fixture::{entry, issued, verified};

suite! {
    a_version_takes_the_place_of_the_one_before_and_is_kept,
    one_that_is_taken_back_gives_way_to_the_newest_that_was_not,
    of_changes_on_top_of_one_count_one_is_made,
    one_that_is_active_is_nominated_and_no_other,
    a_text_that_is_not_what_was_approved_is_not_read,
}

const PACK: ManifestKind = ManifestKind::CapabilityPack;

fn new(id: &str, version: u32, after: i64) -> NewArtifact {
    NewArtifact {
        artifact: Artifact {
            kind: PACK,
            id: id.to_owned(),
            version,
            text: format!("{id} {version}"),
        },
        call: Ulid::generate(),
        task: Ulid::generate(),
        reason: "It is needed.".to_owned(),
        after,
    }
}

async fn activated(store: &dyn Store, new: NewArtifact) -> bool {
    let body = json!({"version": new.artifact.version});
    let entry = entry(Kind::ArtifactActivated, body);
    store.activate_artifact(new, entry).await.unwrap()
}

async fn revoked(store: &dyn Store, id: &str, version: u32, after: i64) -> bool {
    let gone = Revocation {
        kind: PACK,
        id: id.to_owned(),
        version,
        call: Ulid::generate(),
        after,
    };
    let entry = entry(Kind::ArtifactRevoked, json!({"version": version}));
    store.revoke_artifact(gone, entry).await.unwrap()
}

/// The active versions, and how often they changed.
async fn active(store: &dyn Store) -> (i64, Vec<(String, u32)>) {
    let active = store.active_artifacts().await.unwrap();
    assert_eq!(store.artifact_changes().await.unwrap(), active.changes);
    let named = |artifact: Artifact| (artifact.id, artifact.version);
    (
        active.changes,
        active.artifacts.into_iter().map(named).collect(),
    )
}

fn named(id: &str, version: u32) -> (String, u32) {
    (id.to_owned(), version)
}

async fn a_version_takes_the_place_of_the_one_before_and_is_kept(opened: &mut Opened) {
    let store = opened.store();
    assert_eq!(active(&*store).await, (0, vec![]));
    assert!(activated(&*store, new("a", 1, 0)).await);
    assert!(activated(&*store, new("b", 1, 1)).await);
    let second = new("a", 2, 2);
    assert!(activated(&*store, second.clone()).await);
    drop(store);
    opened.reopen().await;
    let store = opened.store();
    assert_eq!(
        active(&*store).await,
        (3, vec![named("a", 2), named("b", 1)])
    );
    let [first, stored] = &store.versions_of(PACK, "a").await.unwrap()[..] else {
        panic!("two versions of a");
    };
    assert_eq!(first.state, ArtifactState::Superseded);
    assert_eq!(
        (
            &stored.artifact,
            stored.state,
            stored.call,
            stored.task,
            stored.reason.as_str()
        ),
        (
            &second.artifact,
            ArtifactState::Active,
            second.call,
            second.task,
            "It is needed."
        )
    );
    assert_eq!(stored.digest, Digest::of_bytes(b"a 2"));
    assert_eq!(store.artifacts().await.unwrap().len(), 3);
    assert_eq!(
        store.versions_of(ManifestKind::Agent, "a").await.unwrap(),
        []
    );
}

async fn one_that_is_taken_back_gives_way_to_the_newest_that_was_not(opened: &mut Opened) {
    let store = opened.store();
    for (version, after) in [(1, 0), (2, 1), (3, 2)] {
        assert!(activated(&*store, new("a", version, after)).await);
    }
    assert!(!revoked(&*store, "a", 2, 3).await, "it is not active");
    assert!(revoked(&*store, "a", 3, 3).await);
    assert_eq!(active(&*store).await, (4, vec![named("a", 2)]));
    assert!(revoked(&*store, "a", 2, 4).await);
    assert!(revoked(&*store, "a", 1, 5).await);
    assert_eq!(active(&*store).await, (6, vec![]));
    let versions = store.versions_of(PACK, "a").await.unwrap();
    assert!(
        versions
            .iter()
            .all(|one| one.state == ArtifactState::Revoked)
    );
}

async fn of_changes_on_top_of_one_count_one_is_made(opened: &mut Opened) {
    let store = opened.store();
    let (first, second) = tokio::join!(
        activated(&*store, new("a", 1, 0)),
        activated(&*store, new("b", 1, 0))
    );
    assert!(first != second, "{first} {second}");
    let records = verified(&*store).await.seq;
    assert!(!activated(&*store, new("c", 1, 0)).await);
    assert_eq!(active(&*store).await.0, 1);
    assert_eq!(
        verified(&*store).await.seq,
        records,
        "what is not made leaves no record"
    );
}

async fn one_that_is_active_is_nominated_and_no_other(opened: &mut Opened) {
    let store = opened.store();
    assert!(activated(&*store, new("a", 1, 0)).await);
    assert!(activated(&*store, new("a", 2, 1)).await);
    for (version, is_done) in [(1, false), (2, true), (3, false)] {
        let entry = entry(Kind::ArtifactNominated, json!({"version": version}));
        let done = store
            .nominate_artifact((PACK, "a", version), "It works.", entry)
            .await;
        assert_eq!(done.unwrap(), is_done, "{version}");
    }
    let versions = store.versions_of(PACK, "a").await.unwrap();
    assert_eq!(versions[0].nominated, None);
    assert_eq!(versions[1].nominated.as_deref(), Some("It works."));
}

async fn a_text_that_is_not_what_was_approved_is_not_read(opened: &mut Opened) {
    let store = opened.store();
    issued(&*store, &[]).await;
    assert!(activated(&*store, new("a", 1, 0)).await);
    let change = "UPDATE artifacts SET text = 'a 2'";
    assert_eq!(opened.sql(change, change).await.unwrap(), 1);
    let told = store.active_artifacts().await.unwrap_err().to_string();
    assert!(told.contains("packs/a"), "{told}");
}
