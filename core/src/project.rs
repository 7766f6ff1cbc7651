//! Projection: the view that a worker gets, cut out of the catalog by its grant.
//!
//! What is not granted is not filtered out of a list; it never enters one. The view borrows the
//! catalog's ready bytes, so its cost follows the grant and not the catalog. Only a tool whose
//! arguments the grant binds is written anew, with the bounds in its schema.

use std::sync::Arc;

use crate::bound::narrowed;
use crate::catalog::{ActionCatalog, Entry};
use crate::descriptor::ToolDescriptor;
use crate::digest::Digest;
use crate::gate::{Standing, exposed};
use crate::grant::VerifiedGrant;
use crate::id::ActionId;
use crate::presentation::{Presentation, Rendered};
use crate::provider::{Inexpressible, Provider};

/// The tools of one grant, in the order of their action ids.
#[derive(Debug, Clone)]
pub struct CatalogView<'a> {
    tools: Vec<ViewedTool<'a>>,
}

/// One tool of a view.
#[derive(Debug, Clone)]
pub struct ViewedTool<'a> {
    id: &'a ActionId,
    standing: Standing,
    shown: Shown<'a>,
}

/// A tool as the catalog has it, or as the grant's bounds leave it.
#[derive(Debug, Clone)]
enum Shown<'a> {
    AsIs(&'a ToolDescriptor, &'a Presentation),
    Bound(Arc<(ToolDescriptor, Presentation)>),
}

impl Shown<'_> {
    fn descriptor(&self) -> &ToolDescriptor {
        match self {
            Self::AsIs(descriptor, _) => descriptor,
            Self::Bound(bound) => &bound.0,
        }
    }

    fn presentation(&self) -> &Presentation {
        match self {
            Self::AsIs(_, presentation) => presentation,
            Self::Bound(bound) => &bound.1,
        }
    }
}

/// Projects a grant over a catalog. Pure: the same two give the same bytes.
#[must_use]
pub fn project<'a>(grant: &VerifiedGrant, catalog: &'a ActionCatalog) -> CatalogView<'a> {
    let listed = grant.listed_actions();
    let mut tools = Vec::with_capacity(listed.len());
    tools.extend(listed.filter_map(|(id, listed)| {
        let (id, entry) = catalog.entry(id.as_str())?;
        let standing = exposed(grant, id, entry, Some(listed)).ok()?;
        let tool = entry.tool.as_ref()?;
        let asks = standing == Standing::ApprovalRequired;
        let may_be_bound =
            grant.has_bounds() || entry.requirements.is_some() || entry.upstream.is_some();
        let shown = match may_be_bound {
            true => shown_bound(grant, id, entry, tool, asks)?,
            false => Shown::AsIs(&tool.descriptor, tool.presentation(asks)),
        };
        Some(ViewedTool {
            id,
            standing,
            shown,
        })
    }));
    CatalogView { tools }
}

/// A tool whose arguments may be bound, by the grant, by policy, or whoever calls it.
#[cold]
fn shown_bound<'a>(
    grant: &VerifiedGrant,
    id: &ActionId,
    entry: &Entry,
    tool: &'a Rendered,
    asks: bool,
) -> Option<Shown<'a>> {
    Some(match grant.bounds_in_view(id, entry).as_slice() {
        [] => Shown::AsIs(&tool.descriptor, tool.presentation(asks)),
        bounds => {
            let descriptor = narrowed(&tool.descriptor, bounds.iter().map(|bound| &**bound))?;
            let presentation = Presentation::of(&descriptor, asks)?;
            Shown::Bound(Arc::new((descriptor, presentation)))
        }
    })
}

impl<'a> CatalogView<'a> {
    /// The tools, in order.
    pub fn tools(&self) -> impl ExactSizeIterator<Item = &ViewedTool<'a>> {
        self.tools.iter()
    }

    /// How many tools there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.tools.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.tools.is_empty()
    }

    /// The view's digest: SHA-256 over the canonical JSON array of the digests of its tools, each
    /// the digest of the tool's canonical JSON as [`write_tools`](Self::write_tools) gives it.
    /// A worker can work it out from what it got.
    #[must_use]
    pub fn digest(&self) -> Digest {
        let mut list = String::with_capacity(self.tools.len() * 74 + 2);
        list.push('[');
        for (index, tool) in self.tools.iter().enumerate() {
            if index > 0 {
                list.push(',');
            }
            list.push('"');
            list.push_str(&tool.shown.presentation().digest.to_string());
            list.push('"');
        }
        list.push(']');
        Digest::of_bytes(list.as_bytes())
    }

    /// How many bytes [`write_tools`](Self::write_tools) appends.
    #[must_use]
    pub fn tools_len(&self) -> usize {
        let each = self
            .tools
            .iter()
            .map(|tool| tool.shown.presentation().json.len());
        // A comma between any two, and the brackets.
        each.sum::<usize>() + self.len().saturating_sub(1) + 2
    }

    /// Appends the JSON array of the tools, as `GET /v1/task` has it. It is canonical JSON.
    pub fn write_tools(&self, out: &mut String) {
        out.reserve(self.tools_len());
        out.push('[');
        for (index, tool) in self.tools.iter().enumerate() {
            if index > 0 {
                out.push(',');
            }
            out.push_str(&tool.shown.presentation().json);
        }
        out.push(']');
    }

    /// Appends the JSON array of the tools in a provider's own shape; gives back those that the
    /// provider's rules leave no way to say, which are not in it.
    pub fn write_tools_for(&self, provider: Provider, out: &mut String) -> Vec<&Inexpressible> {
        write_shapes(&self.tools, provider, out)
    }

    /// Appends the same for one page: at most so many tools, from the one after `after` on. Gives back the last of
    /// the page, if there are more.
    pub fn write_page_for(
        &self,
        provider: Provider,
        after: Option<&str>,
        most: usize,
        out: &mut String,
    ) -> Option<&'a ActionId> {
        let rest = match after {
            None => &*self.tools,
            Some(after) => {
                let begins = self.tools.partition_point(|tool| tool.id.as_str() <= after);
                self.tools.get(begins..).unwrap_or_default()
            }
        };
        let page = rest.get(..most).unwrap_or(rest);
        write_shapes(page, provider, out);
        let has_more = page.len() < rest.len();
        page.last().filter(|_| has_more).map(|last| last.id)
    }
}

/// Appends tools as a JSON array; gives back those that cannot be said.
fn write_shapes<'t>(
    tools: &'t [ViewedTool<'_>],
    provider: Provider,
    out: &mut String,
) -> Vec<&'t Inexpressible> {
    let mut left_out = Vec::new();
    out.push('[');
    let start = out.len();
    for tool in tools {
        let shown = &tool.shown;
        match shown.presentation().shape(shown.descriptor(), provider) {
            Ok(shape) => {
                if out.len() > start {
                    out.push(',');
                }
                out.push_str(shape);
            }
            Err(problem) => left_out.push(problem),
        }
    }
    out.push(']');
    left_out
}

impl<'a> ViewedTool<'a> {
    /// The action that the tool is a name for.
    #[must_use]
    pub fn id(&self) -> &'a ActionId {
        self.id
    }

    /// Whether a call waits for the owner.
    #[must_use]
    pub fn standing(&self) -> Standing {
        self.standing
    }

    /// The descriptor, with the grant's bounds in its schema.
    #[must_use]
    pub fn descriptor(&self) -> &ToolDescriptor {
        self.shown.descriptor()
    }
}
