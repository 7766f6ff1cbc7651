//! The ledger's tree against one that is computed from all leaves, as RFC 6962 defines it.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing)] // a test says where it fails

use std::collections::BTreeMap;

use actum_kernel::ledger::tree::{
    Edge, Place, Question, TILE_WIDTH, check_consistency, check_inclusion,
};
use proptest::prelude::*;
use sha2::{Digest, Sha256};
use tlog_tiles::{Hash, record_hash};

/// The sizes at which a tile begins or ends, and one above the height of two tiles.
const SIZES: [u64; 6] = [0, 1, 255, 256, 257, 65_537];

fn leaf(n: u64) -> Hash {
    record_hash(&n.to_be_bytes())
}

/// MTH of RFC 6962, section 2.1, word for word.
fn naive(leaves: &[Hash]) -> Hash {
    match leaves {
        [] => Hash(Sha256::digest(b"").into()),
        [one] => *one,
        _ => {
            let (left, right) = leaves.split_at(split(leaves.len()));
            parent(naive(left), naive(right))
        }
    }
}

/// The largest power of two below a length of two or more.
fn split(length: usize) -> usize {
    length.next_power_of_two() / 2
}

fn parent(left: Hash, right: Hash) -> Hash {
    let bytes = [&[1], left.0.as_slice(), &right.0].concat();
    Hash(Sha256::digest(bytes).into())
}

/// PATH of RFC 6962, section 2.1.1.
fn naive_path(index: usize, leaves: &[Hash]) -> Vec<Hash> {
    if leaves.len() < 2 {
        return Vec::new();
    }
    let (left, right) = leaves.split_at(split(leaves.len()));
    let (mut path, other) = match index.checked_sub(left.len()) {
        None => (naive_path(index, left), naive(right)),
        Some(index) => (naive_path(index, right), naive(left)),
    };
    path.push(other);
    path
}

/// A tree that was grown leaf by leaf, with its tiles as a store has them, and its leaves.
fn grown(size: u64) -> (Edge, BTreeMap<Place, Vec<u8>>, Vec<Hash>) {
    let (mut edge, mut tiles) = (Edge::default(), BTreeMap::new());
    let leaves: Vec<Hash> = (0..size).map(leaf).collect();
    for leaf in &leaves {
        tiles.extend(edge.push(*leaf));
    }
    tiles.extend(edge.partial().map(|(place, tile)| (place, tile.to_vec())));
    (edge, tiles, leaves)
}

/// The leaves and the roots of the first so many of them, from the tests of Certificate Transparency's reference
/// implementation: <https://github.com/google/certificate-transparency/blob/master/cpp/merkletree/merkle_tree_test.cc>.
const PUBLISHED: [(&[u8], &str); 8] = [
    (
        b"",
        "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    ),
    (
        b"\x00",
        "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    ),
    (
        b"\x10",
        "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    ),
    (
        b"\x20\x21",
        "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    ),
    (
        b"\x30\x31",
        "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    ),
    (
        b"@ABC",
        "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    ),
    (
        b"PQRSTUVW",
        "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    ),
    (
        b"`abcdefghijklmno",
        "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
    ),
];

#[test]
fn roots_are_the_published_ones() {
    let mut edge = Edge::default();
    for (entry, root) in PUBLISHED {
        edge.push(record_hash(entry));
        let found: String = edge
            .root()
            .0
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        assert_eq!(found, root);
    }
}

#[test]
fn at_every_edge_of_a_tile_the_root_is_that_of_all_leaves() {
    for size in SIZES {
        let (edge, tiles, leaves) = grown(size);
        assert_eq!(edge.size(), size);
        assert_eq!(edge.root(), naive(&leaves), "{size}");
        assert_eq!(
            Question::Root { size }.answer(&tiles).unwrap(),
            [naive(&leaves)]
        );
        // The tiles are those of the specification, each as wide as it says.
        let wanted: BTreeMap<Place, usize> = Place::all(size).collect();
        let found = tiles.iter().map(|(place, tile)| (*place, tile.len() / 32));
        assert_eq!(found.collect::<BTreeMap<_, _>>(), wanted, "{size}");
    }
}

#[test]
fn an_edge_is_opened_from_few_tiles_and_goes_on_as_if_it_had_never_been_closed() {
    for size in SIZES {
        let (mut edge, tiles, _) = grown(size);
        let mut opened = Edge::of(size, &tiles).unwrap();
        assert_eq!(opened, edge);
        assert_eq!(opened.root(), edge.root(), "{size}");
        for n in size..size + 300 {
            assert_eq!(opened.push(leaf(n)), edge.push(leaf(n)));
            assert_eq!(opened.root(), edge.root(), "{size}, {n}");
        }
        for (place, _) in Edge::places(size) {
            let mut cut = tiles.clone();
            cut.get_mut(&place).unwrap().pop();
            assert_eq!(Edge::of(size, &cut), None, "{size}, {place:?}");
        }
    }
}

#[test]
fn a_long_tree_proves_with_few_tiles() {
    let (edge, tiles, leaves) = grown(65_537);
    let root = (65_537, edge.root());
    for index in [0, 255, 256, 65_535, 65_536] {
        let question = Question::Inclusion {
            size: 65_537,
            index,
        };
        let places = question.places();
        assert!(places.len() <= 3, "{index}: {places:?}");
        let proof = question.answer(&tiles).unwrap();
        check_inclusion(&proof, root, (index, leaf(index))).unwrap();
        assert!(check_inclusion(&proof, root, (index, leaf(index + 1))).is_err());
        let path = naive_path(usize::try_from(index).unwrap(), &leaves);
        assert_eq!(proof, path, "{index}");
    }
    for from in [1, 255, 256, 257, 65_536] {
        let question = Question::Consistency { from, to: 65_537 };
        assert!(question.places().len() <= 5, "{from}");
        let proof = question.answer(&tiles).unwrap();
        let old = naive(&leaves[..usize::try_from(from).unwrap()]);
        check_consistency(&proof, (from, old), root).unwrap();
        assert!(check_consistency(&proof, (from, leaf(from)), root).is_err());
    }
}

#[test]
fn what_is_not_in_the_tree_or_not_in_the_tiles_has_no_answer() {
    let (_, tiles, _) = grown(300);
    let inclusion = Question::Inclusion {
        size: 300,
        index: 7,
    };
    assert!(inclusion.answer(&tiles).is_ok());
    for place in inclusion.places().into_keys() {
        let mut fewer = tiles.clone();
        fewer.remove(&place);
        assert!(inclusion.answer(&fewer).is_err(), "{place:?}");
    }
    let beyond = Question::Inclusion {
        size: 300,
        index: 300,
    };
    assert!(beyond.answer(&tiles).is_err());
    let backwards = Question::Consistency { from: 300, to: 299 };
    assert!(backwards.answer(&tiles).is_err());
    assert!(Question::Root { size: 600 }.answer(&tiles).is_err());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn every_record_is_proved_in_every_tree_and_nothing_else_is(
        size in 1u64..1_100,
        index in any::<prop::sample::Index>(),
        other in any::<prop::sample::Index>(),
        broken in any::<prop::sample::Index>(),
    ) {
        let (edge, tiles, leaves) = grown(size);
        let at = index.index(leaves.len());
        let index = at as u64;
        let root = (size, edge.root());
        let proof = Question::Inclusion { size, index }.answer(&tiles).unwrap();
        prop_assert_eq!(&proof, &naive_path(at, &leaves));
        prop_assert!(check_inclusion(&proof, root, (index, leaf(index))).is_ok());
        let other = other.index(leaves.len()) as u64;
        if other != index {
            prop_assert!(check_inclusion(&proof, root, (other, leaf(index))).is_err());
            prop_assert!(check_inclusion(&proof, root, (index, leaf(other))).is_err());
        }
        if !proof.is_empty() {
            let mut changed = proof.clone();
            changed[broken.index(proof.len())].0[0] ^= 1;
            prop_assert!(check_inclusion(&changed, root, (index, leaf(index))).is_err());
            prop_assert!(check_inclusion(&proof[1..].to_vec(), root, (index, leaf(index))).is_err());
        }
    }

    #[test]
    fn a_tree_is_proved_to_begin_with_every_earlier_one_and_with_no_other(
        to in 1u64..1_100,
        from in any::<prop::sample::Index>(),
    ) {
        let (edge, tiles, leaves) = grown(to);
        let from = from.index(leaves.len()) as u64 + 1;
        let (old, new) = (naive(&leaves[..usize::try_from(from).unwrap()]), edge.root());
        let proof = Question::Consistency { from, to }.answer(&tiles).unwrap();
        prop_assert!(check_consistency(&proof, (from, old), (to, new)).is_ok());
        prop_assert!(check_consistency(&proof, (from, leaf(to)), (to, new)).is_err());
        if from < to {
            prop_assert!(check_consistency(&proof, (from, old), (to, old)).is_err());
        }
    }

    #[test]
    fn tiles_only_grow(size in 1u64..1_100, more in 0u64..600) {
        let (_, before, _) = grown(size);
        let (_, after, _) = grown(size + more);
        for (place, tile) in before {
            prop_assert!(after[&place].starts_with(&tile));
            prop_assert_eq!(place.width(size), tile.len() / 32);
            let (from, to) = place.records(tile.len() / 32);
            prop_assert!(from <= to && to <= size && from % TILE_WIDTH as u64 == 1);
        }
    }
}
