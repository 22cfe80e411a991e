//! Sets with a member chosen at run time, without a heap or a virtual table: the macros of the
//! registries of algorithms, slow starts and timers.

/// Declares, for members of a trait, the enum of their states, the enum of their parameters and the
/// list of their descriptions. `$described` is the trait with the descriptions.
#[doc(hidden)]
#[macro_export]
macro_rules! one_of {
    (
        $(#[$doc:meta])* $any:ident, $params:ident, $list:ident:
        $trait:path, $described:path { $($variant:ident: $state:ty;)* }
    ) => {
        $(#[$doc])*
        ///
        /// Its methods take the parameters with which it was created; parameters of another member
        /// change nothing.
        // Boxing the large variants would need an allocator.
        #[allow(clippy::large_enum_variant)]
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub enum $any {
            $(
                #[doc = concat!("`", stringify!($state), "`.")]
                $variant($state),
            )*
        }

        /// Parameters of any member; their variant selects the member.
        #[allow(clippy::large_enum_variant)]
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub enum $params {
            $(
                #[doc = concat!("Of `", stringify!($state), "`.")]
                $variant(<$state as $trait>::Params),
            )*
        }

        /// All descriptions, in the order of the list.
        pub static $list: &[&$crate::Info] = &[$(<$state as $described>::INFO),*];

        impl $params {
            /// Default parameters of the member with this identifier (any case), without its
            /// environment.
            fn defaults(id: &str) -> Option<$params> {
                $(if id.eq_ignore_ascii_case(<$state as $described>::INFO.id) {
                    return Some($params::$variant(Default::default()));
                })*
                None
            }

            /// Description of the member.
            pub fn info(&self) -> &'static $crate::Info {
                match self { $($params::$variant(_) => <$state as $described>::INFO,)* }
            }

            /// The value at an index of the description's table of parameters.
            pub fn get(&self, place: usize) -> Option<u64> {
                match self { $($params::$variant(p) => $crate::Parameters::get(p, place),)* }
            }

            /// Sets the value at an index of the description's table. Returns false if the index does
            /// not exist or the value is not admissible.
            pub fn set(&mut self, place: usize, raw: u64) -> bool {
                match self { $($params::$variant(p) => $crate::Parameters::set(p, place, raw),)* }
            }
        }
    };
}

/// Methods that an enum made by [`one_of!`] passes to its state, if the parameters belong to the same
/// member. Otherwise a method returns the value after `or`.
#[doc(hidden)]
#[macro_export]
macro_rules! pass_on {
    ($any:ident, $params:ident, $trait:path, $members:tt;) => {};
    (
        $any:ident, $params:ident, $trait:path, $members:tt;
        $(#[$doc:meta])* $vis:vis fn $name:ident(new, $p:ident $(, $x:ident: $t:ty)*); $($rest:tt)*
    ) => {
        $(#[$doc])*
        #[doc = concat!("See `", stringify!($trait), "::", stringify!($name), "`.")]
        $vis fn $name($p: &$params $(, $x: $t)*) -> $any {
            $crate::pass_on!(@make $any, $params, $trait, $members, $name, $p, ($($x),*))
        }
        $crate::pass_on! { $any, $params, $trait, $members; $($rest)* }
    };
    (
        $any:ident, $params:ident, $trait:path, $members:tt;
        $(#[$doc:meta])* $vis:vis fn $name:ident(&mut self, $p:ident $(, $x:ident: $t:ty)*)
            $(-> $r:ty, or $other:expr)?; $($rest:tt)*
    ) => {
        $(#[$doc])*
        #[doc = concat!("See `", stringify!($trait), "::", stringify!($name), "`.")]
        #[inline]
        $vis fn $name(&mut self, $p: &$params $(, $x: $t)*) $(-> $r)? {
            $crate::pass_on!(@both $any, $params, $trait, $members, $name, self, $p, ($($x),*), { $($other)? })
        }
        $crate::pass_on! { $any, $params, $trait, $members; $($rest)* }
    };
    (
        $any:ident, $params:ident, $trait:path, $members:tt;
        $(#[$doc:meta])* $vis:vis fn $name:ident(&self, $p:ident $(, $x:ident: $t:ty)*)
            -> $r:ty, or $other:expr; $($rest:tt)*
    ) => {
        $(#[$doc])*
        #[doc = concat!("See `", stringify!($trait), "::", stringify!($name), "`.")]
        #[inline]
        $vis fn $name(&self, $p: &$params $(, $x: $t)*) -> $r {
            $crate::pass_on!(@both $any, $params, $trait, $members, $name, self, $p, ($($x),*), { $other })
        }
        $crate::pass_on! { $any, $params, $trait, $members; $($rest)* }
    };
    (
        $any:ident, $params:ident, $trait:path, $members:tt;
        $(#[$doc:meta])* $vis:vis fn $name:ident(&self; $($x:ident: $t:ty),*) $(-> $r:ty)?; $($rest:tt)*
    ) => {
        $(#[$doc])*
        #[doc = concat!("See `", stringify!($trait), "::", stringify!($name), "`.")]
        $vis fn $name(&self $(, $x: $t)*) $(-> $r)? {
            $crate::pass_on!(@alone $any, $trait, $members, $name, self, ($($x),*))
        }
        $crate::pass_on! { $any, $params, $trait, $members; $($rest)* }
    };
    (
        @make $any:ident, $params:ident, $trait:path, { $($variant:ident: $state:ty;)* },
        $name:ident, $p:ident, $more:tt
    ) => {
        match $p {
            $($params::$variant(p) => $any::$variant(
                $crate::pass_on!(@call $state, $trait, $name, (p), $more)
            ),)*
        }
    };
    (
        @both $any:ident, $params:ident, $trait:path, { $($variant:ident: $state:ty;)* },
        $name:ident, $me:ident, $p:ident, $more:tt, $other:block
    ) => {
        match ($me, $p) {
            $(($any::$variant(state), $params::$variant(p)) => {
                $crate::pass_on!(@call $state, $trait, $name, (state, p), $more)
            })*
            #[allow(unreachable_patterns)]
            _ => $other,
        }
    };
    (
        @alone $any:ident, $trait:path, { $($variant:ident: $state:ty;)* }, $name:ident, $me:ident, $more:tt
    ) => {
        match $me {
            $($any::$variant(state) => {
                $crate::pass_on!(@call $state, $trait, $name, (state), $more)
            })*
        }
    };
    (@call $state:ty, $trait:path, $name:ident, ($($first:ident),*), ($($more:ident),*)) => {
        <$state as $trait>::$name($($first,)* $($more),*)
    };
}
