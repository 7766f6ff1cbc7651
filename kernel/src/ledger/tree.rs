//! The Merkle tree over the ledger's records, kept in tiles.
//!
//! Hashing is that of RFC 6962, section 2.1 (<https://www.rfc-editor.org/rfc/rfc6962#section-2.1>): a leaf is
//! SHA-256 of a zero byte and the record's entry. Tiles are those of C2SP tlog-tiles
//! (<https://c2sp.org/tlog-tiles>): 256 hashes wide, and those of a level above stand for full tiles below. So a
//! record changes one tile a level, and a proof reads a few tiles, however long the ledger is.

use std::cell::RefCell;
use std::collections::BTreeMap;

use tlog_tiles::{
    HASH_SIZE, Hash, HashReader, RecordProof, Tile, TreeProof, node_hash, prove_record, prove_tree,
    tree_hash,
};

/// The levels of the tree that one tile spans.
pub const TILE_HEIGHT: u8 = 8;
/// The hashes of a full tile.
pub const TILE_WIDTH: usize = 1 << TILE_HEIGHT;
/// The bytes of a full tile.
pub const TILE_BYTES: usize = TILE_WIDTH * HASH_SIZE;

/// Where a tile stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// Its level; 0 holds the leaves.
    pub level: u8,
    /// Its place within the level, from 0.
    pub index: u64,
}

impl Place {
    /// How many hashes the tile has in a tree of `size` records, up to [`TILE_WIDTH`].
    #[must_use]
    pub fn width(self, size: u64) -> usize {
        let hashes = above(size, u32::from(self.level));
        let before = self.index.saturating_mul(TILE_WIDTH as u64);
        usize::try_from(hashes.saturating_sub(before))
            .unwrap_or(TILE_WIDTH)
            .min(TILE_WIDTH)
    }

    /// The first and the last record that its first `width` hashes stand for, from 1.
    #[must_use]
    pub fn records(self, width: usize) -> (u64, u64) {
        let each = 1u64
            .checked_shl(u32::from(self.level) * u32::from(TILE_HEIGHT))
            .unwrap_or(u64::MAX);
        let before = self.index.saturating_mul(TILE_WIDTH as u64);
        let to = before.saturating_add(width as u64).saturating_mul(each);
        (before.saturating_mul(each).saturating_add(1), to)
    }

    /// Every tile of a tree of `size` records, with its width, level by level.
    pub fn all(size: u64) -> impl Iterator<Item = (Self, usize)> {
        (0u8..8)
            .take_while(move |level| above(size, u32::from(*level)) > 0)
            .flat_map(move |level| {
                let tiles = above(size, u32::from(level)).div_ceil(TILE_WIDTH as u64);
                (0..tiles).map(move |index| Self { level, index })
            })
            .map(move |place| (place, place.width(size)))
    }
}

/// How many full subtrees of `level` tiles' height `size` leaves make.
fn above(size: u64, level: u32) -> u64 {
    size.checked_shr(level * u32::from(TILE_HEIGHT))
        .unwrap_or(0)
}

/// The right edge of a tree: all that is needed to append to it and to tell its root.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Edge {
    size: u64,
    /// The last tile of each level, where it is partial. INVARIANT: each shorter than [`TILE_BYTES`], in whole
    /// hashes, as wide as `size` says.
    partial: Vec<Vec<u8>>,
}

impl Edge {
    /// The tiles that [`Edge::of`] wants for a tree of `size` records, lowest level first.
    #[must_use]
    pub fn places(size: u64) -> Vec<(Place, usize)> {
        (0u8..8)
            .map(|level| Place {
                level,
                index: above(size, u32::from(level) + 1),
            })
            .map(|place| (place, place.width(size)))
            .filter(|(_, width)| *width > 0)
            .collect()
    }

    /// The edge of a tree of `size` records, of the tiles at [`Edge::places`]. `None` where one is too short.
    #[must_use]
    pub fn of(size: u64, tiles: &BTreeMap<Place, Vec<u8>>) -> Option<Self> {
        let mut partial: Vec<Vec<u8>> = Vec::new();
        for (place, width) in Self::places(size) {
            let hashes = tiles.get(&place)?.get(..width * HASH_SIZE)?;
            partial.resize_with(usize::from(place.level), Vec::new);
            partial.push(hashes.to_vec());
        }
        Some(Self { size, partial })
    }

    /// How many records there are.
    #[must_use]
    pub const fn size(&self) -> u64 {
        self.size
    }

    /// Appends a leaf. Gives the tiles that became full by it.
    pub fn push(&mut self, leaf: Hash) -> Vec<(Place, Vec<u8>)> {
        let mut full = Vec::new();
        let mut hash = leaf;
        for level in 0u8..8 {
            if self.partial.len() <= usize::from(level) {
                self.partial.push(Vec::new());
            }
            let Some(tile) = self.partial.get_mut(usize::from(level)) else {
                break;
            };
            tile.extend_from_slice(&hash.0);
            if tile.len() < TILE_BYTES {
                break;
            }
            let tile = std::mem::take(tile);
            hash = Tile::subtree_hash(&tile);
            let index = above(self.size, u32::from(level) + 1);
            full.push((Place { level, index }, tile));
        }
        self.size = self.size.saturating_add(1);
        full
    }

    /// The partial tiles, lowest level first.
    pub fn partial(&self) -> impl Iterator<Item = (Place, &[u8])> {
        let tiles = (0u8..).zip(&self.partial);
        tiles
            .filter(|(_, tile)| !tile.is_empty())
            .map(move |(level, tile)| {
                let index = above(self.size, u32::from(level) + 1);
                (Place { level, index }, tile.as_slice())
            })
    }

    /// The tree's root.
    #[must_use]
    pub fn root(&self) -> Hash {
        // The perfect subtrees that the tree consists of, smallest and rightmost first.
        let mut root = None;
        for tile in &self.partial {
            let mut rest = tile.as_slice();
            while !rest.is_empty() {
                let hashes = rest.len() / HASH_SIZE;
                let subtree = (1usize << hashes.trailing_zeros()) * HASH_SIZE;
                let Some((left, last)) = rest.split_at_checked(rest.len() - subtree) else {
                    break;
                };
                let hash = Tile::subtree_hash(last);
                root = Some(root.map_or(hash, |right| node_hash(hash, right)));
                rest = left;
            }
        }
        root.unwrap_or(tlog_tiles::EMPTY_HASH)
    }
}

/// What can be asked of a tree's tiles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Question {
    /// The root of the first `size` records.
    Root {
        /// How many.
        size: u64,
    },
    /// The proof that a record is in the tree of the first `size`.
    Inclusion {
        /// How many.
        size: u64,
        /// The record, from 0.
        index: u64,
    },
    /// The proof that the tree of the first `to` records begins with that of the first `from`.
    Consistency {
        /// The earlier size.
        from: u64,
        /// The later size.
        to: u64,
    },
}

/// Why there is no answer.
pub type NoAnswer = tlog_tiles::Error;

impl Question {
    /// The tiles that answering reads, each with the hashes that it must have at least.
    #[must_use]
    pub fn places(self) -> BTreeMap<Place, usize> {
        let asked = Asked::default();
        // Whatever it says, it has asked for all that it needs by then, at once.
        let _ = self.ask(&asked);
        let mut places = BTreeMap::new();
        for tile in asked.0.into_inner() {
            let width = places.entry(place_of(&tile)).or_insert(0);
            *width = usize::try_from(tile.width())
                .unwrap_or(TILE_WIDTH)
                .max(*width);
        }
        places
    }

    fn ask(self, reader: &impl HashReader) -> Result<Vec<Hash>, NoAnswer> {
        match self {
            Self::Root { size } => tree_hash(size, reader).map(|root| vec![root]),
            Self::Inclusion { size, index } => prove_record(size, index, reader),
            Self::Consistency { from, to } => prove_tree(to, from, reader),
        }
    }

    /// The answer, of the tiles at [`places`](Self::places): a root alone, or the hashes of a proof.
    ///
    /// # Errors
    /// [`NoAnswer`] for a question about what is not in the tree, or with a tile that is missing or too short.
    pub fn answer(self, tiles: &BTreeMap<Place, Vec<u8>>) -> Result<Vec<Hash>, NoAnswer> {
        self.ask(&Read(tiles))
    }
}

fn place_of(tile: &Tile) -> Place {
    Place {
        level: tile.level(),
        index: tile.level_index(),
    }
}

/// Notes the tiles that are read, and has none.
#[derive(Default)]
struct Asked(RefCell<Vec<Tile>>);

impl HashReader for Asked {
    fn read_hashes(&self, indexes: &[u64]) -> Result<Vec<Hash>, NoAnswer> {
        let tiles = indexes.iter().map(|at| Tile::from_index(TILE_HEIGHT, *at));
        self.0.borrow_mut().extend(tiles);
        Err(NoAnswer::IndexesNotInTree)
    }
}

/// Reads hashes out of tiles.
struct Read<'t>(&'t BTreeMap<Place, Vec<u8>>);

impl HashReader for Read<'_> {
    fn read_hashes(&self, indexes: &[u64]) -> Result<Vec<Hash>, NoAnswer> {
        let read = |at: &u64| {
            let tile = Tile::from_index(TILE_HEIGHT, *at);
            let hashes = self.0.get(&place_of(&tile)).ok_or(NoAnswer::InvalidTile)?;
            tile.hash_at_index(hashes, *at)
        };
        indexes.iter().map(read).collect()
    }
}

/// Whether `proof` shows that a tree begins with another.
///
/// # Errors
/// [`NoAnswer`] where it does not.
pub fn check_consistency(
    proof: &TreeProof,
    (from, old): (u64, Hash),
    (to, new): (u64, Hash),
) -> Result<(), NoAnswer> {
    if from == 0 {
        // Every tree begins with the empty one.
        return Ok(());
    }
    tlog_tiles::check_tree(proof, to, new, from, old)
}

/// Whether `proof` shows that `leaf` is the record at `index`, from 0, of a tree.
///
/// # Errors
/// [`NoAnswer`] where it does not.
pub fn check_inclusion(
    proof: &RecordProof,
    (size, root): (u64, Hash),
    (index, leaf): (u64, Hash),
) -> Result<(), NoAnswer> {
    tlog_tiles::check_record(proof, size, root, index, leaf)
}
