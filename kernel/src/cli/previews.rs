//! `actum previews`: the drafts that workers showed.

use std::path::PathBuf;

use ulid::Ulid;

use super::client::{Speaker, indented, line};
use super::say;
use crate::owner::previews::ToldPreview;

pub(super) async fn run(config: Option<PathBuf>, id: Option<String>) -> Result<(), String> {
    let owner = Speaker::owner(config)?;
    let Some(id) = id else {
        let previews: Vec<ToldPreview> = owner.part("/v1/owner/previews", "previews").await?;
        if previews.is_empty() {
            return say("nothing was shown\n");
        }
        for preview in &previews {
            say(&format!(
                "{}  {}  {}\n",
                preview.id,
                line(&preview.at),
                line(&preview.draft.title)
            ))?;
        }
        return Ok(());
    };
    let id = Ulid::from_string(&id).map_err(|_| format!("`{}` is no preview's id", line(&id)))?;
    let path = format!("/v1/owner/previews/{id}");
    say(&shown(&owner.part(&path, "preview").await?))
}

/// A draft with whose it is. What strangers and models wrote is without anything that a terminal would obey.
pub(super) fn shown(preview: &ToldPreview) -> String {
    let file = preview.draft_file.as_deref();
    let rows = [
        ("preview", Some(preview.id.to_string())),
        ("shown", Some(preview.at.clone())),
        ("for", preview.principal.clone()),
        ("task", Some(preview.task_id.to_string())),
        ("digest", Some(preview.digest.to_string())),
        ("written", file.map(str::to_owned)),
    ];
    let mut out = String::new();
    for (title, text) in rows {
        if let Some(text) = text {
            out.push_str(&format!("{title:9} {}\n", line(&text)));
        }
    }
    out.push_str(&format!("{}\n", indented(&preview.rendered)));
    out
}
