//! Tasks: whose they are, what they wait for, and what happened at them.

use actum_taskboard::BoardError;
use actum_taskboard::actions::{delegation, discovery, task};
use actum_taskboard::store::history::Kind;
use actum_taskboard::store::task::Status;
use serde_json::json;

use crate::documents::{file, question, write};
use crate::support::{Place, ask, call};

#[tokio::test]
async fn a_call_is_at_its_actors_one_active_task_and_at_no_other() {
    let place = Place::new().await;
    let own = place.active_task("ada", "Dig", &[]).await;
    let other = place.active_task("bert", "Pour", &[]).await;
    for (actor, task) in [("ada", &own), ("bert", &other)] {
        let context = task::get_task_context(&place.board, &call(actor))
            .await
            .unwrap();
        assert_eq!(context.task, *task);
    }
    let stranger = task::get_task_context(&place.board, &call("nobody")).await;
    assert!(
        matches!(stranger, Err(BoardError::NobodyHere(_))),
        "{stranger:?}"
    );

    let free = place.task("Rest", &[]).await;
    let mut work = place.control_plane().await;
    for (task, actor) in [(&free, "ada"), (&own, "ada"), (&own, "carla")] {
        let twice = actum_taskboard::store::task::check_out(&mut work, &task.id, actor).await;
        assert!(matches!(twice, Err(BoardError::NotFree(_))), "{twice:?}");
    }
    drop(work);

    let summary = ask(json!({"summary": "Dug."}));
    let left = task::request_review(&place.board, &call("ada"), summary)
        .await
        .unwrap();
    assert_eq!(left.status, Status::InReview);
    let none = task::get_task_context(&place.board, &call("ada")).await;
    assert!(matches!(none, Err(BoardError::NoActiveTask(_))), "{none:?}");
    for (task, actor) in [(&left, "ada"), (&free, "carla")] {
        let next = place.check_out(task, actor).await;
        assert_eq!(
            (next.status, next.assignee.as_deref()),
            (Status::Active, Some(actor))
        );
        let context = task::get_task_context(&place.board, &call(actor))
            .await
            .unwrap();
        assert_eq!(context.task, next);
    }
    let done = ask(json!({"summary": "Rested."}));
    let done = task::finish_task(&place.board, &call("carla"), done)
        .await
        .unwrap();
    let mut work = place.control_plane().await;
    let again = actum_taskboard::store::task::check_out(&mut work, &done.id, "carla").await;
    assert!(matches!(again, Err(BoardError::NotFree(_))), "{again:?}");
}

#[tokio::test]
async fn a_task_that_is_made_stands_below_its_makers_and_is_found() {
    let place = Place::new().await;
    let own = place.active_task("ada", "Build the house", &[]).await;
    let make = async |task: serde_json::Value| {
        delegation::create_task(&place.board, &call("ada"), ask(task)).await
    };
    let made = make(json!({"title": "Dig", "assigneeActorId": "bert", "priority": "high"})).await;
    let made = made.unwrap();
    assert_eq!(made.parent, Some(own.id.clone()));
    for wrong in [
        json!({"title": "Dig", "assigneeActorId": "nobody"}),
        json!({"title": "Dig", "priority": "whenever"}),
        json!({"title": "Dig", "blockedByTaskIds": ["nothing"]}),
    ] {
        make(wrong.clone()).await.expect_err(&wrong.to_string());
    }
    let search = async |what: serde_json::Value| {
        discovery::search_tasks(&place.board, &call("bert"), ask(what)).await
    };
    assert_eq!(
        search(json!({})).await.unwrap().len(),
        2,
        "what was refused left nothing"
    );
    assert_eq!(
        search(json!({"query": "dIG"})).await.unwrap(),
        std::slice::from_ref(&made)
    );
    assert_eq!(search(json!({"status": "open"})).await.unwrap(), [made]);
    assert_eq!(
        search(json!({"query": "dig", "status": "active"}))
            .await
            .unwrap(),
        []
    );
    let wrong = search(json!({"status": "lost"})).await.unwrap_err();
    assert!(matches!(wrong, BoardError::NoSuchWord { .. }), "{wrong}");
}

#[tokio::test]
async fn a_task_never_waits_for_itself_over_however_many_others() {
    let place = Place::new().await;
    let own = place.active_task("ada", "Build", &[]).await;
    let second = place.task("Test", std::slice::from_ref(&own.id)).await;
    let third = place.task("Ship", std::slice::from_ref(&second.id)).await;
    for id in [&own.id, &second.id, &third.id] {
        let circle = ask(json!({"blockedByTaskIds": [id]}));
        let refused = delegation::set_dependencies(&place.board, &call("ada"), circle).await;
        assert!(
            matches!(refused, Err(BoardError::Cycle { .. })),
            "{refused:?}"
        );
        let circle = ask(json!({"reason": "Stuck.", "blockedByTaskIds": [id]}));
        let refused = task::block_task(&place.board, &call("ada"), circle).await;
        assert!(
            matches!(refused, Err(BoardError::Cycle { .. })),
            "{refused:?}"
        );
    }
    let context = task::get_task_context(&place.board, &call("ada"))
        .await
        .unwrap();
    assert!(context.blocked_by.is_empty());
    assert_eq!(context.task.status, Status::Active);

    let apart = place.task("Ask", &[]).await;
    let both = ask(json!({"blockedByTaskIds": [apart.id, apart.id]}));
    let set = delegation::set_dependencies(&place.board, &call("ada"), both)
        .await
        .unwrap();
    assert_eq!(set, [apart]);
}

#[tokio::test]
async fn a_task_is_not_finished_before_those_that_it_waits_for() {
    let place = Place::new().await;
    let before = place.active_task("bert", "Dig", &[]).await;
    let own = place
        .active_task("ada", "Pour", std::slice::from_ref(&before.id))
        .await;
    let finish = async |actor| {
        let summary = ask(json!({"summary": "Done."}));
        task::finish_task(&place.board, &call(actor), summary).await
    };
    let refused = finish("ada").await.unwrap_err();
    assert!(
        matches!(&refused, BoardError::StillBlocked { open, .. } if *open == [before.id.clone()]),
        "{refused}"
    );
    assert_eq!(finish("bert").await.unwrap().status, Status::Done);
    let done = finish("ada").await.unwrap();
    assert_eq!((done.id, done.status), (own.id, Status::Done));
    assert!(matches!(
        finish("ada").await,
        Err(BoardError::NoActiveTask(_))
    ));
}

#[tokio::test]
async fn history_only_grows_and_each_change_of_a_task_is_in_it() {
    let place = Place::new().await;
    place.active_task("ada", "Write the plan", &[]).await;
    let kinds = async || -> Vec<Kind> {
        let limit = ask(json!({}));
        let entries = task::get_task_history(&place.board, &call("ada"), limit)
            .await
            .unwrap();
        entries.iter().rev().map(|entry| entry.kind).collect()
    };
    let mut expected = vec![Kind::Created, Kind::CheckedOut];
    assert_eq!(kinds().await, expected);

    let remark = || ask(json!({"body": "Half of it."}));
    task::report_progress(&place.board, &call("ada"), remark())
        .await
        .unwrap();
    expected.push(Kind::Progress);
    assert_eq!(kinds().await, expected);
    task::answer_status_question(&place.board, &call("ada"), remark())
        .await
        .unwrap();
    expected.push(Kind::StatusAnswer);
    assert_eq!(kinds().await, expected);
    let revision = write(&place, "one", None).await.unwrap();
    expected.push(Kind::DocumentWritten);
    assert_eq!(kinds().await, expected);
    write(&place, "two", None).await.unwrap_err();
    assert_eq!(kinds().await, expected, "what was refused did not happen");

    let asked = ask(question(&revision.id));
    task::request_human_input(&place.board, &call("ada"), asked)
        .await
        .unwrap();
    expected.push(Kind::HumanInputRequested);
    assert_eq!(kinds().await, expected);
    let plan = ask(file(&"0f".repeat(32), 1));
    task::register_deliverable(&place.board, &call("ada"), plan)
        .await
        .unwrap();
    expected.push(Kind::Delivered);
    assert_eq!(kinds().await, expected);

    let newest = ask(json!({"limit": 2}));
    let newest = task::get_task_history(&place.board, &call("ada"), newest)
        .await
        .unwrap();
    assert_eq!(newest.len(), 2);
    assert_eq!(newest[0].kind, Kind::Delivered);
}
