//! Small programs on top of Actum; each is a binary of its own under `src/bin`.
