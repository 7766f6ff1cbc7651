//! The company: who is on the board, what for, and the whole of it as one export.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use sqlx::FromRow;

use super::case::{self, Case};
use super::routine::{self, Routine};
use super::skill::{self, Skill};
use super::task::{self, Task};
use super::work::new_id;
use super::{BoardError, MOST, Payload, Work};

/// A person or an agent.
#[derive(Debug, Clone, PartialEq, FromRow, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Actor {
    /// Its id.
    pub id: String,
    /// Its name.
    pub name: String,
    /// What it is in the company.
    pub role: String,
}

/// A project.
#[derive(Debug, Clone, PartialEq, FromRow, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Project {
    /// Its id.
    pub id: String,
    /// Its name.
    pub name: String,
}

/// A goal.
#[derive(Debug, Clone, PartialEq, FromRow, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Goal {
    /// Its id.
    pub id: String,
    /// What is to be reached.
    pub title: String,
}

/// What the board knows, secrets and the texts of documents aside.
#[derive(Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Export {
    /// The company's name.
    pub name: String,
    /// Who is on the board.
    pub agents: Vec<Actor>,
    /// The projects.
    pub projects: Vec<Project>,
    /// The goals.
    pub goals: Vec<Goal>,
    /// The tasks.
    pub tasks: Vec<Task>,
    /// The cases.
    pub cases: Vec<Case>,
    /// The routines.
    pub routines: Vec<Routine>,
    /// The skills.
    pub skills: Vec<Skill>,
}

/// What an administrator can do.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(
    tag = "action",
    content = "payload",
    rename_all = "snake_case",
    deny_unknown_fields
)]
pub enum Administration {
    /// Gives the company another name.
    RenameCompany {
        /// The name.
        name: String,
    },
    /// Puts somebody on the board.
    AddActor {
        /// The id.
        id: String,
        /// The name.
        name: String,
        /// What it is in the company.
        role: String,
        /// How the kernel names whom its grants are issued to, such as `known:<id>`.
        principal: String,
    },
    /// Adds a project.
    AddProject {
        /// The name.
        name: String,
    },
    /// Adds a goal.
    AddGoal {
        /// What is to be reached.
        title: String,
    },
}

impl Administration {
    /// Reads what is asked for by its word and its details.
    ///
    /// # Errors
    /// [`BoardError::Administration`], which lists the words, or the details that are missing.
    pub fn read(action: &str, payload: &Payload) -> Result<Self, BoardError> {
        serde_json::from_value(json!({"action": action, "payload": payload}))
            .map_err(BoardError::Administration)
    }
}

/// What was done, as an id of what it was done to.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Administered {
    /// The id.
    pub id: String,
}

/// Who is on the board.
///
/// # Errors
/// [`BoardError::Database`].
pub async fn agents(work: &mut Work) -> Result<Vec<Actor>, BoardError> {
    let actors = sqlx::query_as("SELECT id, name, role FROM actors ORDER BY id LIMIT ?")
        .bind(MOST)
        .fetch_all(&mut *work.tx)
        .await?;
    Ok(actors)
}

/// The projects.
///
/// # Errors
/// [`BoardError::Database`].
pub async fn projects(work: &mut Work) -> Result<Vec<Project>, BoardError> {
    let projects = sqlx::query_as("SELECT id, name FROM projects ORDER BY id LIMIT ?")
        .bind(MOST)
        .fetch_all(&mut *work.tx)
        .await?;
    Ok(projects)
}

/// The goals.
///
/// # Errors
/// [`BoardError::Database`].
pub async fn goals(work: &mut Work) -> Result<Vec<Goal>, BoardError> {
    let goals = sqlx::query_as("SELECT id, title FROM goals ORDER BY id LIMIT ?")
        .bind(MOST)
        .fetch_all(&mut *work.tx)
        .await?;
    Ok(goals)
}

/// The whole of it, each list up to [`MOST`].
///
/// # Errors
/// [`BoardError::Database`].
pub async fn export(work: &mut Work) -> Result<Export, BoardError> {
    Ok(Export {
        name: sqlx::query_scalar("SELECT name FROM company")
            .fetch_one(&mut *work.tx)
            .await?,
        agents: agents(work).await?,
        projects: projects(work).await?,
        goals: goals(work).await?,
        tasks: task::search(work, "", "").await?,
        cases: case::list(work).await?,
        routines: routine::list(work).await?,
        skills: skill::list(work).await?,
    })
}

/// Does what an administrator asks for.
///
/// # Errors
/// [`BoardError::Database`], also when somebody of the same id or principal is on the board.
pub async fn administer(work: &mut Work, ask: Administration) -> Result<Administered, BoardError> {
    let new = new_id();
    let (id, change) = match ask {
        Administration::RenameCompany { name } => (
            "company".to_owned(),
            sqlx::query("UPDATE company SET name = ?").bind(name),
        ),
        Administration::AddActor {
            id,
            name,
            role,
            principal,
        } => {
            let insert = "INSERT INTO actors (id, name, role, principal) VALUES (?, ?, ?, ?)";
            let insert = sqlx::query(insert).bind(id.clone());
            (id, insert.bind(name).bind(role).bind(principal))
        }
        Administration::AddProject { name } => {
            let insert = sqlx::query("INSERT INTO projects (id, name) VALUES (?, ?)");
            (new.clone(), insert.bind(new).bind(name))
        }
        Administration::AddGoal { title } => {
            let insert = sqlx::query("INSERT INTO goals (id, title) VALUES (?, ?)");
            (new.clone(), insert.bind(new).bind(title))
        }
    };
    change.execute(&mut *work.tx).await?;
    Ok(Administered { id })
}
