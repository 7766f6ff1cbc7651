//! One-line declarations: of ids that have no handler, and of crates whose actions a binary has.

/// Declares an id that exists and that nothing dispatches, so that manifests can speak of it.
///
/// ```
/// actum::known!("route.activate");
/// ```
///
/// An id that does not fit the grammar does not compile:
///
/// ```compile_fail
/// actum::known!("Route.Activate");
/// ```
#[macro_export]
macro_rules! known {
    ($id:literal) => {
        $crate::__declare!($id, Known);
    };
}

/// Declares an operation that is the control plane's own: it exists, and no agent can be shown it, be
/// granted it or call it.
///
/// ```
/// actum::control_plane!("run.persist");
/// ```
#[macro_export]
macro_rules! control_plane {
    ($id:literal) => {
        $crate::__declare!($id, ControlPlane);
    };
}

/// Declares an id that the kernel itself may originate, without a grant's lists.
///
/// ```
/// actum::kernel_origin!("owner.notify");
/// ```
#[macro_export]
macro_rules! kernel_origin {
    ($id:literal) => {
        $crate::__declare!($id, KernelOrigin);
    };
}

/// Says that this binary has the actions of a crate, which no other line of its code may name.
///
/// A crate that stands in `Cargo.toml` and nowhere in the code is not linked, and its actions are
/// silently not there. This line names it, and makes its absence a fault of the start: the crate has
/// at least one action, or exactly those that the pack promises are among them.
///
/// ```text
/// actum::pack!(mail_actions);
/// actum::pack!(door_actions, ["door.open", "door.lock"]);
/// ```
#[macro_export]
macro_rules! pack {
    ($name:ident $(, [$($id:literal),* $(,)?])? $(,)?) => {
        const _: () = {
            #[allow(unused_extern_crates)]
            extern crate $name as _;
            $($(
                $crate::__check_id!($id);
            )*)?
            $crate::__submit!(
                ::core::stringify!($name),
                Pack { promises: &[$($($id),*)?] }
            );
        };
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __declare {
    ($id:literal, $kind:ident) => {
        const _: () = {
            $crate::__check_id!($id);
            $crate::__submit!($id, $kind);
        };
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __check_id {
    ($id:literal) => {
        const _: () = ::core::assert!(
            ::core::matches!(
                $crate::__private::check_action_id($id),
                ::core::result::Result::Ok(())
            ),
            "not an action id: dotted lower-case segments with an optional `:qualifier`"
        );
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __submit {
    ($id:expr, $($kind:tt)*) => {
        const _: () = {
            $crate::__private::inventory::submit! {
                $crate::__private::Declaration {
                    id: $id,
                    kind: $crate::__private::DeclarationKind::$($kind)*,
                    at: $crate::__private::Place {
                        file: ::core::file!(),
                        line: ::core::line!(),
                        column: ::core::column!(),
                        module: ::core::module_path!(),
                    },
                }
            }
        };
    };
}
