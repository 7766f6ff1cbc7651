//! Declarations: a type and how it is read from a document, said once.

/// Declares a struct together with how it is read: every field by its own name, in any order.
///
/// A field with `= default` may be absent; one without must be there. An `Option` may also be null.
/// Anything else in the map is a fault. Works wherever `actum` is a dependency under its own name.
#[doc(hidden)]
#[macro_export]
macro_rules! __record {
    (
        $(#[$meta:meta])*
        $vis:vis struct $name:ident {
            $( $(#[$field_meta:meta])* $field_vis:vis $field:ident : $ty:ty $(= $default:expr)? ),+ $(,)?
        }
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq)]
        $vis struct $name {
            $( $(#[$field_meta])* $field_vis $field: $ty ),+
        }

        impl $crate::authority::document::Decode for $name {
            fn expected() -> ::std::string::String {
                ::std::string::String::from("a map of fields")
            }

            fn expected_many() -> ::std::string::String {
                ::std::string::String::from("maps")
            }

            fn decode(
                at: &$crate::authority::document::At<'_>,
            ) -> ::core::option::Option<Self> {
                at.record(|fields| {
                    $( let $field = $crate::__record!(@read fields, $field $(, $default)?); )+
                    ::core::option::Option::Some(Self { $( $field: $field? ),+ })
                })
            }
        }
    };
    (@read $fields:ident, $field:ident) => {
        $fields.required(::core::stringify!($field))
    };
    (@read $fields:ident, $field:ident, $default:expr) => {
        $fields.or(::core::stringify!($field), || $default)
    };
}

/// Declares an enum of names: the one list that reading, writing and every fault's "allowed: ..." use.
#[doc(hidden)]
#[macro_export]
macro_rules! __choice {
    (
        $(#[$meta:meta])*
        $vis:vis enum $name:ident {
            $( $(#[$variant_meta:meta])* $variant:ident = $text:literal ),+ $(,)?
        }
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        $vis enum $name {
            $( $(#[$variant_meta])* $variant ),+
        }

        impl $crate::authority::document::Choice for $name {
            const ALL: &'static [(&'static str, Self)] = &[ $( ($text, Self::$variant) ),+ ];
        }

        impl ::core::fmt::Display for $name {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                f.write_str($crate::authority::document::Choice::name(*self))
            }
        }

        impl $crate::authority::document::Decode for $name {
            fn expected() -> ::std::string::String {
                ::std::format!(
                    "one of {}",
                    <Self as $crate::authority::document::Choice>::names().join(", "),
                )
            }

            fn expected_many() -> ::std::string::String {
                ::std::string::String::from("names")
            }

            fn decode(
                at: &$crate::authority::document::At<'_>,
            ) -> ::core::option::Option<Self> {
                <Self as $crate::authority::document::Choice>::decode_choice(at)
            }
        }
    };
}

pub use crate::{__choice as choice, __record as record};
