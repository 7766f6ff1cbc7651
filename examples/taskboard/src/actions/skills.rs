//! The company's skills.

use actum::{Call, action};

use crate::TaskBoard;
use crate::store::BoardError;
use crate::store::skill::{self, Skill};

/// Lists the skills.
#[action(
    id = "list_company_skills",
    description = "List the skills that the company has.",
    class = optional,
    requires("company_skills:read"),
    modes("standard", "skill_test"),
    read_only
)]
pub async fn list_company_skills(board: &TaskBoard, call: &Call) -> Result<Vec<Skill>, BoardError> {
    skill::list(&mut board.look(call).await?).await
}

/// Brings the skills up to the library.
#[action(
    id = "sync_company_skills",
    description = "Bring the company's skills up to the library; gives those that came in.",
    idempotency_key_required,
    class = optional,
    requires("company_skills:write"),
    modes("standard", "skill_test")
)]
pub async fn sync_company_skills(board: &TaskBoard, call: &Call) -> Result<Vec<Skill>, BoardError> {
    let mut work = board.begin(call).await?;
    let skills = skill::sync(&mut work).await?;
    work.done(skills).await
}
