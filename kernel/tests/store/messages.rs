//! Messages to the owner.

use actum_kernel::store::Message;
use jiff::Timestamp;

use crate::backend::Opened;
use crate::fixture::{issued, now};

suite! {
    messages_come_in_order_and_in_pages,
}

async fn messages_come_in_order_and_in_pages(opened: &mut Opened) {
    let store = opened.store();
    let task = issued(&*store, &[]).await;
    assert!(store.messages_after(0, 10).await.unwrap().is_empty());
    for n in 0..5 {
        let body = format!("message {n}");
        store
            .post_message(task, "visitor", &body, now())
            .await
            .unwrap();
    }
    let bodies = |page: &[Message]| page.iter().map(|m| m.body.clone()).collect::<Vec<_>>();
    let first = store.messages_after(0, 3).await.unwrap();
    assert_eq!(bodies(&first), ["message 0", "message 1", "message 2"]);
    let rest = store.messages_after(first[2].seq, 3).await.unwrap();
    assert_eq!(bodies(&rest), ["message 3", "message 4"]);
    assert!(
        store
            .messages_after(rest[1].seq, 3)
            .await
            .unwrap()
            .is_empty()
    );
    assert_eq!(first[0].seq, 1);
    assert_eq!(first[0].sender, "visitor");
    assert_eq!(first[0].task_id, task.to_string());
    assert_eq!(first[0].at.parse::<Timestamp>().unwrap(), now());
}
