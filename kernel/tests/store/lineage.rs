//! Lineages: what ends a task ends all below it, and what is done below counts above.

use std::sync::Arc;

use actum::Confidential;
use actum::gate::DenialReason;
use actum_kernel::ledger::Kind;
use actum_kernel::store::{NewReport, NotBegun, Started, Store, Takes, TaskOutcome};
use serde_json::json;
use ulid::Ulid;

use crate::backend::Opened;
use crate::fixture::{
    READ, TAKE, admitted, commissioned, entry, held, issued, limits, new_call, now, started,
    try_commission, verified, waiting_for,
};

suite! {
    a_task_is_taken_back_with_all_that_descend_from_it,
    nothing_below_a_task_that_is_taken_back_begins,
    a_task_ends_once_by_its_workers_report_with_all_below_it,
    a_task_that_is_over_commissions_nothing,
    a_parent_is_told_of_the_tasks_that_it_commissioned,
    a_lineage_begins_no_more_calls_than_its_limits_say,
    a_call_that_is_refused_or_edited_takes_nothing,
    artifacts_are_counted_besides_calls,
    concurrent_calls_of_a_lineage_stay_within_its_limits,
    a_selection_token_is_spent_once_in_the_whole_lineage,
}

const LIMIT: DenialReason = DenialReason::LimitReached;

async fn revoke(store: &dyn Store, task: Ulid) -> Vec<Ulid> {
    let body = json!({"task": task, "by": "owner"});
    let revoked = entry(Kind::GrantRevoked, body);
    store.revoke(task, revoked).await.unwrap()
}

async fn end(store: &dyn Store, task: Ulid, outcome: TaskOutcome) -> Option<Vec<Ulid>> {
    let report = NewReport {
        task,
        outcome,
        report: Confidential::of(&json!({"summary": "All sorted."})).unwrap(),
        message: ("anonymous:visitor".to_owned(), "All sorted.".to_owned()),
        entry: entry(Kind::TaskEnded, json!({"task": task})),
    };
    store.end(report).await.unwrap()
}

/// Why a call is not begun; `None` if it is.
async fn refused(store: &dyn Store, task: Ulid, takes: Takes) -> Option<DenialReason> {
    let mut call = new_call(task, TAKE, None);
    call.takes = takes;
    match store.start(admitted(TAKE, None), call).await.unwrap() {
        Started::Recorded(_) => None,
        Started::Not(NotBegun::Refused(reason)) => Some(reason),
        Started::Not(again) => panic!("{again:?}"),
    }
}

async fn a_task_is_taken_back_with_all_that_descend_from_it(opened: &mut Opened) {
    let store = opened.store();
    let root = issued(&*store, &[]).await;
    let (one, two) = (
        commissioned(&*store, root, 5).await,
        commissioned(&*store, root, 5).await,
    );
    let below_one = commissioned(&*store, one, 5).await;
    let other = issued(&*store, &[]).await;
    let below_other = commissioned(&*store, other, 5).await;
    assert_eq!(revoke(&*store, two).await, [two], "a part of a lineage");

    let before = verified(&*store).await.seq;
    let mut all = vec![root, one, below_one];
    all.sort_unstable();
    assert_eq!(revoke(&*store, root).await, all);
    for task in [root, one, two, below_one] {
        let stored = store.task(task).await.unwrap().unwrap();
        assert!(stored.revoked && stored.is_over(), "{task}");
    }
    for task in [other, below_other] {
        assert!(!store.task(task).await.unwrap().unwrap().is_over());
        assert!(store.is_still_live(task).await.unwrap());
    }
    let records = store.records_after(before, 10).await.unwrap();
    let of = |task: Ulid| {
        let is = |record: &&actum_kernel::ledger::Record| record.body["task"] == json!(task);
        records.iter().find(is).unwrap().body.clone()
    };
    assert_eq!(records.len(), 3, "a record for each");
    assert_eq!(of(root), json!({"task": root, "by": "owner"}));
    assert_eq!(of(below_one), json!({"task": below_one, "with": root}));
    assert!(revoke(&*store, root).await.is_empty());
    let parent = store.task(below_one).await.unwrap().unwrap().parent;
    assert_eq!(parent, Some(one));
}

async fn nothing_below_a_task_that_is_taken_back_begins(opened: &mut Opened) {
    let store = opened.store();
    let root = issued(&*store, &[]).await;
    let child = commissioned(&*store, root, 5).await;
    let waiting = held(&*store, child).await;
    let approved = entry(Kind::CallApproved, json!({"call": waiting}));
    let pending = actum_kernel::calls::State::Pending;
    assert!(store.step(waiting, pending, "", approved).await.unwrap());
    revoke(&*store, root).await;
    assert_eq!(
        refused(&*store, child, Takes::Call).await,
        Some(DenialReason::GrantExpired)
    );
    let held = store.hold(new_call(child, TAKE, None), waiting_for(900));
    let over = NotBegun::Refused(DenialReason::GrantExpired);
    assert_eq!(held.await.unwrap(), Some(over));
    let start = entry(Kind::CallStarted, json!({"call": waiting}));
    let begun = store.start_approved(admitted(TAKE, None), waiting, start);
    assert!(matches!(begun.await.unwrap(), Started::Not(_)));
}

async fn a_task_ends_once_by_its_workers_report_with_all_below_it(opened: &mut Opened) {
    let store = opened.store();
    let root = issued(&*store, &[]).await;
    let child = commissioned(&*store, root, 5).await;
    let below = commissioned(&*store, child, 5).await;
    // It reports in a call of its own, which ends after its task.
    let reporting = started(&*store, child).await;
    let taken = end(&*store, child, TaskOutcome::Succeeded).await;
    assert_eq!(taken, Some(vec![below]));
    let before = verified(&*store).await;
    assert_eq!(end(&*store, child, TaskOutcome::Failed).await, None, "once");
    assert_eq!(end(&*store, below, TaskOutcome::Failed).await, None);
    assert_eq!(verified(&*store).await, before);
    assert!(revoke(&*store, child).await.is_empty(), "it is over");
    let stored = store.task(child).await.unwrap().unwrap();
    assert!(stored.ended && !stored.revoked);
    let over = Some(DenialReason::GrantExpired);
    assert_eq!(refused(&*store, child, Takes::Nothing).await, over);
    assert_eq!(refused(&*store, below, Takes::Call).await, over);
    assert_eq!(refused(&*store, root, Takes::Call).await, None);
    let done = actum_kernel::store::Outcome::Succeeded(Confidential::of(&json!(1)).unwrap());
    crate::fixture::finish(&*store, reporting, done)
        .await
        .unwrap();
    let told = store.messages_after(0, 10).await.unwrap();
    let told: Vec<_> = told.iter().map(|one| (&*one.task_id, &*one.body)).collect();
    assert_eq!(told, [(child.to_string().as_str(), "All sorted.")]);
}

async fn a_task_that_is_over_commissions_nothing(opened: &mut Opened) {
    let store = opened.store();
    let (revoked, ended) = (issued(&*store, &[]).await, issued(&*store, &[]).await);
    revoke(&*store, revoked).await;
    end(&*store, ended, TaskOutcome::Failed).await.unwrap();
    let before = verified(&*store).await;
    for parent in [revoked, ended, Ulid::generate()] {
        let task = Ulid::generate();
        assert!(!try_commission(&*store, parent, task, 5).await);
        assert!(store.task(task).await.unwrap().is_none());
    }
    assert_eq!(verified(&*store).await, before);
}

async fn a_parent_is_told_of_the_tasks_that_it_commissioned(opened: &mut Opened) {
    let store = opened.store();
    let root = issued(&*store, &[]).await;
    assert!(store.commissioned(root, 10).await.unwrap().is_empty());
    let mut children = Vec::new();
    for _ in 0..3 {
        children.push(commissioned(&*store, root, 5).await);
    }
    commissioned(&*store, children[0], 5).await;
    end(&*store, children[1], TaskOutcome::Failed)
        .await
        .unwrap();
    revoke(&*store, children[2]).await;
    let told = store.commissioned(root, 10).await.unwrap();
    let ids: Vec<Ulid> = told.iter().map(|task| task.id).collect();
    assert_eq!(ids, children);
    assert!(told[0].end.is_none() && told[0].revoked_at.is_none());
    let end = told[1].end.as_ref().unwrap();
    assert_eq!(end.outcome, TaskOutcome::Failed);
    assert_eq!(end.report, json!({"summary": "All sorted."}));
    assert_eq!(told[2].revoked_at, Some(now().to_string()));
    let newest = store.commissioned(root, 1).await.unwrap();
    assert_eq!(newest[0].id, children[2], "the newest are told");
}

async fn a_lineage_begins_no_more_calls_than_its_limits_say(opened: &mut Opened) {
    let store = opened.store();
    let top = issued(&*store, &[]).await;
    let root = commissioned(&*store, top, 4).await;
    let child = commissioned(&*store, root, 2).await;
    assert_eq!(refused(&*store, child, Takes::Call).await, None);
    held(&*store, child).await;
    let before = verified(&*store).await;
    assert_eq!(refused(&*store, child, Takes::Call).await, Some(LIMIT));
    let held = store.hold(new_call(child, TAKE, None), waiting_for(900));
    assert_eq!(held.await.unwrap(), Some(NotBegun::Refused(LIMIT)));
    assert_eq!(verified(&*store).await, before, "nothing is left of it");
    // What was done below counts above, and the other way round it does not.
    assert_eq!(refused(&*store, root, Takes::Call).await, None);
    let other = commissioned(&*store, root, 100).await;
    assert_eq!(refused(&*store, other, Takes::Call).await, None);
    for task in [root, other] {
        assert_eq!(refused(&*store, task, Takes::Call).await, Some(LIMIT));
    }
    assert_eq!(refused(&*store, top, Takes::Call).await, None);
    // Saying how it ended is always possible.
    assert_eq!(refused(&*store, other, Takes::Nothing).await, None);
}

async fn a_call_that_is_refused_or_edited_takes_nothing(opened: &mut Opened) {
    let store = opened.store();
    let top = issued(&*store, &[]).await;
    let task = commissioned(&*store, top, 1).await;
    let others = Ulid::generate();
    issued(&*store, &[others]).await;
    let no_token = store.start(
        admitted(READ, Some(others)),
        new_call(task, READ, Some(others)),
    );
    assert!(matches!(no_token.await.unwrap(), Started::Not(_)));
    let first = held(&*store, task).await;
    let rejected = entry(Kind::CallRejected, json!({"call": first}));
    let mut waiting = waiting_for(900);
    waiting.instead_of = Some((first, rejected));
    let edited = store.hold(new_call(task, TAKE, None), waiting).await;
    assert_eq!(edited.unwrap(), None, "it takes the place of the first");
    assert_eq!(refused(&*store, task, Takes::Call).await, Some(LIMIT));
}

async fn artifacts_are_counted_besides_calls(opened: &mut Opened) {
    let store = opened.store();
    let root = issued(&*store, &[]).await;
    let child = commissioned(&*store, root, 500).await;
    for n in 0..limits().max_artifacts {
        let task = [root, child][usize::try_from(n % 2).unwrap()];
        assert_eq!(refused(&*store, task, Takes::Artifact).await, None);
    }
    assert_eq!(refused(&*store, root, Takes::Artifact).await, Some(LIMIT));
    assert_eq!(refused(&*store, root, Takes::Call).await, None);
}

async fn concurrent_calls_of_a_lineage_stay_within_its_limits(opened: &mut Opened) {
    let store = opened.store();
    let top = issued(&*store, &[]).await;
    let root = commissioned(&*store, top, 7).await;
    let child = commissioned(&*store, root, 100).await;
    let racers: Vec<_> = (0..20)
        .map(|n| {
            let store = Arc::clone(&store);
            let task = [root, child][n % 2];
            tokio::spawn(async move { refused(&*store, task, Takes::Call).await })
        })
        .collect();
    let mut begun = 0;
    for racer in racers {
        match racer.await.unwrap() {
            None => begun += 1,
            Some(reason) => assert_eq!(reason, LIMIT),
        }
    }
    assert_eq!(begun, 7);
    assert_eq!(store.counts().await.unwrap().calls, 7);
}

async fn a_selection_token_is_spent_once_in_the_whole_lineage(opened: &mut Opened) {
    let store = opened.store();
    let (first, second) = (Ulid::generate(), Ulid::generate());
    let root = issued(&*store, &[first, second]).await;
    let child = commissioned(&*store, root, 5).await;
    let stranger = issued(&*store, &[]).await;
    assert!(store.selection(first, child).await.unwrap().is_some());
    assert!(store.selection(first, stranger).await.unwrap().is_none());
    let start = async |task, token| {
        let call = new_call(task, READ, Some(token));
        let admitted = admitted(READ, Some(token));
        store.start(admitted, call).await.unwrap()
    };
    for (one, other, token) in [(child, root, first), (root, child, second)] {
        assert!(matches!(start(one, token).await, Started::Recorded(_)));
        let again = start(other, token).await;
        assert!(matches!(
            again,
            Started::Not(NotBegun::Refused(DenialReason::SelectionTokenInvalid))
        ));
        assert!(store.selection(token, other).await.unwrap().is_none());
    }
}
