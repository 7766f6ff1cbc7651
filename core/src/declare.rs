//! One-line declarations of ids that have no handler.

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

#[doc(hidden)]
#[macro_export]
macro_rules! __declare {
    ($id:literal, $kind:ident) => {
        const _: () = {
            const _: () = ::core::assert!(
                ::core::matches!(
                    $crate::__private::check_action_id($id),
                    ::core::result::Result::Ok(())
                ),
                "not an action id: dotted lower-case segments with an optional `:qualifier`"
            );
            $crate::__private::inventory::submit! {
                $crate::__private::Declaration {
                    id: $id,
                    kind: $crate::__private::DeclarationKind::$kind,
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
