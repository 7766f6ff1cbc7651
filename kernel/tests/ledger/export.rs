//! The ledger as files.

use serde_json::Value;

use crate::fixture::{Backend, CONFIG, assert_holds, assert_told};

suite! {
    an_export_is_laid_out_as_the_specification_has_it_and_every_file_of_it_counts,
}

async fn an_export_is_laid_out_as_the_specification_has_it_and_every_file_of_it_counts(
    backend: Backend,
) {
    let home = backend.ledger(300).await;
    assert_eq!(home.run(&["export", "out"], &CONFIG).await.code, 0);
    let export = ["--export", "out", "--public-key", "data/keys/ledger.pub"];
    let size = |name: &str| {
        std::fs::metadata(home.path("out").join(name))
            .unwrap()
            .len()
    };
    assert_eq!(size("tile/0/000"), 256 * 32);
    assert_eq!(size("tile/0/001.p/44"), 44 * 32);
    assert_eq!(size("tile/1/000.p/1"), 32);
    // The first entry, behind its length.
    let bundle = std::fs::read(home.path("out/tile/entries/000")).unwrap();
    let length = usize::from(u16::from_be_bytes([bundle[0], bundle[1]]));
    let first: Value = serde_json::from_slice(&bundle[2..2 + length]).unwrap();
    assert_eq!(first["seq"], 1);
    for (name, wanted) in [
        (
            "tile/0/000",
            "tile 0/0 of the tree is not that of records 1 to 256",
        ),
        (
            "tile/0/001.p/44",
            "tile 0/1 of the tree is not that of records 257 to 300",
        ),
        (
            "tile/1/000.p/1",
            "tile 1/0 of the tree is not that of records 1 to 256",
        ),
        ("tile/entries/000", "record "),
        ("tile/entries/001.p/44", "record "),
        ("checkpoint", "checkpoint"),
    ] {
        let path = home.path("out").join(name);
        let good = std::fs::read(&path).unwrap();
        let mut bad = good.clone();
        bad[20] ^= 1;
        std::fs::write(&path, &bad).unwrap();
        assert_told(&home.run(&["verify"], &export).await, &[wanted]);
        std::fs::remove_file(&path).unwrap();
        assert_eq!(
            home.run(&["verify"], &export).await.code,
            1,
            "{name} is gone"
        );
        std::fs::write(&path, &good).unwrap();
    }
    assert_eq!(home.run(&["verify"], &export).await.code, 0);
    // An export goes on where it was.
    home.grow(10).await;
    assert_eq!(home.run(&["export", "out"], &CONFIG).await.code, 0);
    assert_holds(&home.run(&["verify"], &export).await, &["310 records"]);
    assert_eq!(home.run(&["verify"], &["--export", "out"]).await.code, 2);
}
