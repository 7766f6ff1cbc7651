//! Every form that a payload takes, with a schema and a type that agree.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};
use std::num::{NonZeroI64, NonZeroU8, NonZeroU64};

use actum::{ActionError, action};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

macro_rules! handlers {
    ($($id:literal $name:ident: $payload:ty;)*) => {$(
        #[action(id = $id, description = "One form of a payload.")]
        async fn $name(_: $payload) -> Result<(), ActionError> {
            Ok(())
        }
    )*};
}

handlers! {
    "zoo.unit" unit: ();
    "zoo.unit_struct" unit_struct: UnitStruct;
    "zoo.empty" empty: Empty;
    "zoo.map" map: BTreeMap<String, u8>;
    "zoo.map_newtype" map_newtype: MapNewtype;
    "zoo.newtype" newtype: Newtype;
    "zoo.transparent" transparent: Transparent;
    "zoo.any" any: Any;
    "zoo.numbers" numbers: Numbers;
    "zoo.options" options: Options;
    "zoo.lists" lists: Lists;
    "zoo.attributes" attributes: Attributes;
    "zoo.names" names: Names;
    "zoo.tagged" tagged: Tagged;
    "zoo.tagged_closed" tagged_closed: TaggedClosed;
    "zoo.adjacent" adjacent: Adjacent;
    "zoo.external" external: External;
    "zoo.untagged" untagged: Untagged;
    "zoo.flat_struct" flat_struct: Flat<Inner>;
    "zoo.flat_closed" flat_closed: Flat<Closed>;
    "zoo.flat_enum" flat_enum: Flat<Tagged>;
    "zoo.flat_external" flat_external: Flat<External>;
    "zoo.flat_untagged" flat_untagged: Flat<Untagged>;
    "zoo.flat_option" flat_option: Flat<Option<Inner>>;
    "zoo.flat_map" flat_map: Flat<BTreeMap<String, u8>>;
    "zoo.flat_any" flat_any: Flat<Map>;
    "zoo.strict_flat_struct" strict_flat_struct: StrictFlat<Inner>;
    "zoo.strict_flat_option" strict_flat_option: StrictFlat<Option<Inner>>;
    "zoo.strict_flat_map" strict_flat_map: StrictFlat<BTreeMap<String, u8>>;
    "zoo.two_flat" two_flat: TwoFlat;
    "zoo.two_enums" two_enums: TwoEnums;
    "zoo.node" node: Node;
    "zoo.mutual" mutual: Mutual;
    "zoo.tree" tree: Tree;
    "zoo.same_names" same_names: SameNames;
    "zoo.formats" formats: Formats;
    "zoo.ranges" ranges: Ranges;
    "zoo.docs" docs: Docs;
    "zoo.raw" raw: Raw;
    "zoo.standard" standard: Standard;
    "zoo.odd_name" odd_name: OddName;
    "zoo.keys" keys: Keys;
    "zoo.more" more: More;
    "zoo.nested" nested: Nested;
    "zoo.generic" generic: Generic<Colour>;
    "zoo.defaults" defaults: Defaults;
    "zoo.other" other: WithOther;
}

pub type Map = serde_json::Map<String, Value>;

#[derive(Deserialize, JsonSchema)]
pub struct UnitStruct;
#[derive(Deserialize, JsonSchema)]
pub struct Empty {}
#[derive(Deserialize, JsonSchema)]
pub struct Inner {
    name: String,
    deep: Option<u8>,
}
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Closed {
    name: String,
}
#[derive(Deserialize, JsonSchema)]
pub struct MapNewtype(BTreeMap<String, Inner>);
#[derive(Deserialize, JsonSchema)]
pub struct Newtype(Inner);
#[derive(Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Transparent {
    inner: Inner,
}

#[derive(Deserialize, JsonSchema)]
pub struct Any {
    bare: Value,
    /// Documented.
    told: Value,
    list: Vec<Value>,
    option: Option<Value>,
    map: HashMap<String, Value>,
}

#[derive(Deserialize, JsonSchema)]
pub struct Numbers {
    u8: u8,
    u16: u16,
    u32: u32,
    u64: u64,
    u128: u128,
    usize: usize,
    i8: i8,
    i16: i16,
    i32: i32,
    i64: i64,
    i128: i128,
    isize: isize,
    f32: f32,
    f64: f64,
    non_zero: NonZeroU8,
    non_zero_64: NonZeroU64,
    non_zero_signed: NonZeroI64,
    optional: Option<u32>,
}

#[derive(Deserialize, JsonSchema)]
pub struct Options {
    plain: Option<u8>,
    of_struct: Option<Inner>,
    of_enum: Option<Colour>,
    of_list: Option<Vec<String>>,
    twice: Option<Option<u8>>,
    boxed: Option<Box<Inner>>,
    /// With words.
    told: Option<Inner>,
}

#[derive(Deserialize, JsonSchema)]
pub struct Lists {
    list: Vec<Inner>,
    set: BTreeSet<u8>,
    hash_set: HashSet<String>,
    deque: VecDeque<bool>,
    array: [u8; 3],
    pair: (u8, String),
    nothing: (),
    letter: char,
    cow: Cow<'static, str>,
    numbered: HashMap<u8, u8>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Attributes {
    #[serde(default)]
    with_default: u8,
    #[serde(default = "seven")]
    with_own_default: u8,
    #[serde(alias = "color")]
    with_alias: String,
    #[serde(skip)]
    skipped: u8,
    #[serde(skip_deserializing)]
    not_read: u8,
    #[serde(skip_serializing)]
    not_written: u8,
    #[serde(rename = "re-named")]
    renamed: u8,
    #[serde(default)]
    list: Vec<u8>,
    #[serde(with = "as_text")]
    #[schemars(with = "String")]
    by_text: String,
}
fn seven() -> u8 {
    7
}
mod as_text {
    pub(super) fn deserialize<'de, D: serde::Deserializer<'de>>(
        deserializer: D,
    ) -> Result<String, D::Error> {
        serde::Deserialize::deserialize(deserializer)
    }
}

#[derive(Deserialize, JsonSchema, PartialEq, Eq, PartialOrd, Ord)]
#[serde(rename_all = "kebab-case")]
pub enum Colour {
    DarkRed,
    LightGreen,
}
/// Some are told of.
#[derive(Deserialize, JsonSchema)]
pub enum PartlyTold {
    /// The first.
    One,
    Two,
}
#[derive(Deserialize, JsonSchema)]
pub enum AllTold {
    /// The first.
    One,
    /// The second.
    Two,
}
#[derive(Deserialize, JsonSchema)]
pub struct Names {
    none: Colour,
    some: PartlyTold,
    all: AllTold,
    list: Vec<AllTold>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(tag = "kind")]
pub enum Tagged {
    Struct { x: u8 },
    Newtype(Inner),
    Closed(Closed),
    Unit,
}
#[derive(Deserialize, JsonSchema)]
#[serde(tag = "kind", deny_unknown_fields)]
pub enum TaggedClosed {
    Struct { x: u8 },
    Newtype(Inner),
}
#[derive(Deserialize, JsonSchema)]
#[serde(tag = "kind", content = "value")]
pub enum Adjacent {
    Struct { x: u8 },
    Newtype(Inner),
    Pair(u8, u8),
}
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum External {
    Struct { x: u8 },
    Newtype(Inner),
}
#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Untagged {
    Struct { x: u8 },
    Newtype(Inner),
}

#[derive(Deserialize, JsonSchema)]
pub struct Flat<T> {
    own: u8,
    #[serde(flatten)]
    flat: T,
}
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StrictFlat<T> {
    own: u8,
    #[serde(flatten)]
    flat: T,
}
#[derive(Deserialize, JsonSchema)]
pub struct TwoFlat {
    #[serde(flatten)]
    one: External,
    #[serde(flatten)]
    other: Inner,
}
#[derive(Deserialize, JsonSchema)]
pub struct TwoEnums {
    #[serde(flatten)]
    one: Sort,
    #[serde(flatten)]
    other: Other,
}
#[derive(Deserialize, JsonSchema)]
#[serde(tag = "kind")]
pub enum Sort {
    Struct { x: u8 },
    Unit,
}
#[derive(Deserialize, JsonSchema)]
#[serde(tag = "sort")]
pub enum Other {
    This { y: u8 },
    That,
}

/// A node.
#[derive(Deserialize, JsonSchema)]
pub struct Node {
    next: Option<Box<Node>>,
    all: Vec<Node>,
}
#[derive(Deserialize, JsonSchema)]
pub struct Mutual {
    other: Option<Box<MutualToo>>,
}
#[derive(Deserialize, JsonSchema)]
pub struct MutualToo {
    other: Vec<Mutual>,
    inner: Inner,
}
#[derive(Deserialize, JsonSchema)]
#[serde(tag = "is")]
pub enum Tree {
    Leaf,
    Fork { left: Box<Tree>, right: Box<Tree> },
}

mod one {
    #[derive(serde::Deserialize, schemars::JsonSchema)]
    pub struct Same {
        a: u8,
    }
}
mod two {
    #[derive(serde::Deserialize, schemars::JsonSchema)]
    pub struct Same {
        b: u8,
    }
}
#[derive(Deserialize, JsonSchema)]
pub struct SameNames {
    one: one::Same,
    two: two::Same,
}

#[derive(Deserialize, JsonSchema)]
pub struct Formats {
    v4: std::net::Ipv4Addr,
    v6: std::net::Ipv6Addr,
}
#[derive(Deserialize, JsonSchema)]
pub struct Ranges {
    #[schemars(range(min = 1, max = 50))]
    count: u8,
    #[schemars(length(min = 2, max = 5))]
    text: String,
    #[schemars(length(max = 2))]
    list: Vec<u8>,
    #[schemars(regex(pattern = "^[a-z]+$"))]
    word: String,
}

/// The whole.
///
/// With a second paragraph.
#[derive(Deserialize, JsonSchema)]
#[allow(clippy::struct_field_names)]
pub struct Docs {
    /// One.
    ///
    /// - a
    /// - b
    ///
    /// ```
    /// code
    /// ```
    #[serde(default)]
    list_and_fence: u8,
    #[doc = "Quotes \" and \\ and ünïcödé,\r\nand CRLF."]
    odd_text: Inner,
    /// Of a type with words.
    words: AllTold,
}
#[derive(Deserialize, JsonSchema)]
pub struct Raw {
    r#fn: u8,
    r#type: Option<String>,
}
#[derive(Deserialize, JsonSchema)]
pub struct Standard {
    time: std::time::Duration,
    range: std::ops::Range<u8>,
    path: std::path::PathBuf,
    either: Result<u8, String>,
    shared: Box<str>,
    wrapped: std::num::Wrapping<u8>,
}
#[derive(Deserialize, JsonSchema)]
pub struct Keys {
    by_name: BTreeMap<Colour, u8>,
    by_number: BTreeMap<i64, u8>,
    nested: BTreeMap<String, BTreeMap<String, Option<Inner>>>,
}
#[derive(Deserialize, JsonSchema)]
pub struct More {
    address: std::net::IpAddr,
    pairs: Vec<(String, u8)>,
    none: [u8; 0],
    maybe_nothing: Option<()>,
    holes: Vec<Option<u8>>,
    boxed: Box<[Inner]>,
    number: serde_json::Number,
    map: Map,
    moment: std::time::SystemTime,
    bound: std::ops::Bound<u8>,
    inclusive: std::ops::RangeInclusive<u8>,
    cell: std::cell::Cell<u8>,
    mutex: std::sync::Mutex<Inner>,
    triple: (u8, Option<u8>, Inner),
    choice: Result<(), Inner>,
    phantom: std::marker::PhantomData<u8>,
}
#[derive(Deserialize, JsonSchema)]
pub struct Nested {
    tagged: Tagged,
    list: Vec<Tagged>,
    option: Option<Adjacent>,
    untagged: Untagged,
    external: External,
    mixed: Mixed,
    scalar: Scalar,
    flat: Flat<Tagged>,
    boxed: Box<Tree>,
}
#[derive(Deserialize, JsonSchema)]
pub enum Mixed {
    Unit,
    /// Words.
    Told,
    Struct {
        x: u8,
    },
    Newtype(Box<Mixed>),
    Pair(u8, String),
}
#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Scalar {
    Number(u8),
    Text(String),
    List(Vec<u8>),
    Nothing,
}
#[derive(Deserialize, JsonSchema)]
pub struct Generic<T> {
    one: T,
    list: Vec<T>,
    maybe: Option<T>,
}
#[derive(Deserialize, JsonSchema, serde::Serialize, Default)]
#[serde(default, rename_all = "SCREAMING_SNAKE_CASE")]
pub struct Defaults {
    first: u8,
    second: Option<String>,
    third: Vec<u8>,
}
#[derive(Deserialize, JsonSchema)]
pub struct WithOther {
    value: OrOther,
    bytes: Vec<u8>,
}
#[derive(Deserialize, JsonSchema)]
pub enum OrOther {
    Known,
    #[serde(alias = "Second", alias = "2")]
    Renamed,
    #[serde(skip)]
    Hidden,
    #[serde(skip_deserializing)]
    OnlyOut,
    #[serde(other)]
    Other,
}
#[derive(Deserialize, JsonSchema)]
pub struct OddName {
    odd: Odd,
    list: Vec<Odd>,
}
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "An odd/name~ with 100% ünïcödé")]
pub struct Odd {
    x: u8,
}
