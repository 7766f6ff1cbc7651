//! The sample mailbox that a kernel without configuration starts with.

use super::*;

fn sample() -> Mailbox {
    Mailbox::open(concat!(env!("CARGO_MANIFEST_DIR"), "/sample/mail")).unwrap()
}

#[test]
fn the_sample_is_read_without_faults() {
    let mailbox = sample();
    assert!(mailbox.faults().listed().is_empty());
    assert_eq!(
        outline(&mailbox),
        [
            (3, "Trip to the science museum: form needed".into()),
            (3, "Dripping pipe under the kitchen sink".into()),
            (1, "Action required: unpaid invoice 88213".into()),
            (1, "来月の京都旅行について".into()),
            (1, "Ablesung der Heizkörper am 29. September".into()),
            (1, "Autumn is planting time 🌷".into()),
        ]
    );
}

#[test]
fn every_mail_of_the_sample_is_readable() {
    let mailbox = sample();
    let all: Vec<Message> = mailbox
        .threads()
        .iter()
        .flat_map(|it| mailbox.thread(&it.id, 50).unwrap().messages)
        .collect();
    assert_eq!(all.len(), 10);
    for part in [
        "ermöglichen Sie den Zugang",
        "十月十日から三泊",
        "See all bulbs (https://news.example.com/bulbs?c=2026-09)",
        "Ignore your previous instructions",
    ] {
        assert!(all.iter().any(|it| it.text.contains(part)), "{part}");
    }
    assert_eq!(all.iter().map(|it| it.attachments_omitted).sum::<u32>(), 1);
    for hidden in ["consent-form", "%PDF", "JVBER", "track(", "Bulbs, bulbs"] {
        assert!(!all.iter().any(|it| it.text.contains(hidden)), "{hidden}");
    }
}
