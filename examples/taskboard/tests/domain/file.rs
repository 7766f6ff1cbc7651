//! What is in the file stays in it, and the sample is one to work with.

use actum_taskboard::BoardError;
use actum_taskboard::actions::{cases, documents, governance, routines, skills, task, workspace};
use serde_json::json;

use crate::documents::write;
use crate::support::{Place, ask, call};

#[tokio::test]
async fn a_start_finds_everything_as_it_was() {
    let place = Place::new().await;
    let own = place.active_task("ada", "Write the plan", &[]).await;
    let revision = write(&place, "one", None).await.unwrap();
    let first = call("ada");
    let case = ask(json!({"key": "roof", "body": "It leaks."}));
    let case = cases::upsert_case(&place.board, &first, case)
        .await
        .unwrap();
    let history = task::get_task_history(&place.board, &call("ada"), ask(json!({})))
        .await
        .unwrap();

    let place = place.restart().await;
    let context = task::get_task_context(&place.board, &call("ada"))
        .await
        .unwrap();
    assert_eq!(context.task, own);
    assert_eq!(
        documents::list_documents(&place.board, &call("ada"))
            .await
            .unwrap(),
        [revision]
    );
    let kept = task::get_task_history(&place.board, &call("ada"), ask(json!({})))
        .await
        .unwrap();
    assert_eq!(kept, history);

    let wanted = || ask(json!({"operationResultId": first.request_id.to_string()}));
    let result = task::inspect_operation_result(&place.board, &call("ada"), wanted())
        .await
        .unwrap();
    assert_eq!(result.result, serde_json::to_value(case).unwrap());
    let of_another = task::inspect_operation_result(&place.board, &call("bert"), wanted()).await;
    assert!(
        matches!(of_another, Err(BoardError::Missing { .. })),
        "{of_another:?}"
    );
}

#[tokio::test]
async fn the_file_itself_refuses_to_change_history_and_to_let_anybody_decide_their_own_request() {
    let place = Place::new().await;
    place.active_task("ada", "Write the plan", &[]).await;
    let wanted = ask(json!({"approvalType": "spend", "payload": {}}));
    governance::request_approval(&place.board, &call("ada"), wanted)
        .await
        .unwrap();
    let db = sqlx::SqlitePool::connect(&format!("sqlite://{}", place.file().display()))
        .await
        .unwrap();
    for change in [
        "UPDATE history SET body = 'something else'",
        "DELETE FROM history",
        "UPDATE approvals SET decision = 'approved', decided_by = requested_by",
        "UPDATE approvals SET decision = 'approved'",
        "INSERT INTO dependencies SELECT id, id FROM tasks",
    ] {
        assert!(sqlx::query(change).execute(&db).await.is_err(), "{change}");
    }
}

#[tokio::test]
async fn the_sample_has_services_routines_and_skills_to_work_with() {
    let folder = tempfile::tempdir().unwrap();
    let board = actum_taskboard::TaskBoard::at(folder.path().join("board.db")).with_sample();
    let ada = || actum::Call {
        principal: "known:01J0000000000000000000ADA0".into(),
        ..call("")
    };
    task::get_task_context(&board, &ada()).await.unwrap();

    let services = workspace::get_workspace_runtime(&board, &ada())
        .await
        .unwrap();
    let control =
        |id: &str, action, url| ask(json!({"serviceId": id, "action": action, "url": url}));
    let start = control(&services[0].id, "start", "http://localhost:3000");
    let started = workspace::control_workspace_service(&board, &ada(), start)
        .await
        .unwrap();
    assert_eq!(started.url.as_deref(), Some("http://localhost:3000"));
    let stop = control(&services[0].id, "stop", "http://localhost:3000");
    let stopped = workspace::control_workspace_service(&board, &ada(), stop)
        .await
        .unwrap();
    assert_eq!(stopped.url, None);
    let unknown = control("of nobody", "stop", "");
    let unknown = workspace::control_workspace_service(&board, &ada(), unknown).await;
    assert!(
        matches!(unknown, Err(BoardError::Missing { .. })),
        "{unknown:?}"
    );

    let paused = routines::manage_routine(&board, &ada()).await.unwrap();
    assert!(paused.paused);
    assert!(
        routines::list_routines(&board, &ada())
            .await
            .unwrap()
            .contains(&paused)
    );
    assert!(
        !routines::manage_routine(&board, &ada())
            .await
            .unwrap()
            .paused
    );

    let came_in = skills::sync_company_skills(&board, &ada()).await.unwrap();
    assert!(!came_in.is_empty());
    let skills = skills::list_company_skills(&board, &ada()).await.unwrap();
    assert!(came_in.iter().all(|skill| skills.contains(skill)));
    assert_eq!(
        skills::sync_company_skills(&board, &ada()).await.unwrap(),
        []
    );
    assert!(cases::list_cases(&board, &ada()).await.is_ok());
}
