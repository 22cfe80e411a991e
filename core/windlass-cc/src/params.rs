//! Parameters that describe themselves: one table gives the struct, its defaults, the keys of a
//! scenario and the documentation.

use crate::time::Span;

/// Fractional bits of a [`Ratio`].
pub const RATIO_BITS: u32 = 16;

/// A pure number such as a gain or a factor, in units of 1/65536.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
#[repr(transparent)]
pub struct Ratio(pub u64);

impl Ratio {
    /// One.
    pub const ONE: Ratio = Ratio(1 << RATIO_BITS);

    /// `numerator / denominator`, rounded to the nearest value.
    pub const fn of(numerator: u64, denominator: u64) -> Ratio {
        Ratio(((numerator << RATIO_BITS) + denominator / 2) / denominator)
    }

    /// `self · bytes`, cut to a whole number.
    pub const fn times(self, value: u64) -> u64 {
        crate::arithmetic::math::mul_shift(self.0, value, RATIO_BITS)
    }
}

/// One parameter of an algorithm, a slow start or a timer.
#[derive(Clone, Copy, Debug)]
pub struct Param {
    /// Name in a scenario.
    pub name: &'static str,
    /// Description. Its lines may begin with a blank.
    pub doc: &'static str,
    /// Type, unit and admissible values.
    pub kind: ParamKind,
    /// RFC section or paper equation of its origin.
    pub source: &'static str,
}

/// Type, unit and range of a parameter. All values are stored as integers; the range includes its
/// bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ParamKind {
    /// A volume in bytes.
    Bytes {
        /// Minimum admissible value.
        min: u64,
        /// Maximum admissible value.
        max: u64,
    },
    /// A whole number of full segments.
    Segments {
        /// Minimum admissible value.
        min: u64,
        /// Maximum admissible value.
        max: u64,
    },
    /// A whole number with the unit of the description.
    Count {
        /// Minimum admissible value.
        min: u64,
        /// Maximum admissible value.
        max: u64,
    },
    /// A duration, in nanoseconds.
    Time {
        /// Minimum admissible value.
        min: Span,
        /// Maximum admissible value.
        max: Span,
    },
    /// A pure number, as a [`Ratio`].
    Ratio {
        /// Minimum admissible value.
        min: Ratio,
        /// Maximum admissible value.
        max: Ratio,
    },
    /// Yes (1) or no (0).
    Flag,
    /// One of these words, by its index.
    Choice(&'static [&'static str]),
}

impl ParamKind {
    /// True if a value is in the range.
    pub fn admits(self, raw: u64) -> bool {
        match self {
            ParamKind::Bytes { min, max }
            | ParamKind::Segments { min, max }
            | ParamKind::Count { min, max } => (min..=max).contains(&raw),
            ParamKind::Time { min, max } => (min.0..=max.0).contains(&raw),
            ParamKind::Ratio { min, max } => (min.0..=max.0).contains(&raw),
            ParamKind::Flag => raw <= 1,
            ParamKind::Choice(words) => raw < words.len() as u64,
        }
    }
}

/// A set of parameters, read and written by the index in its table.
pub trait Parameters: Copy + Default + PartialEq + core::fmt::Debug {
    /// The parameters, in the order of display.
    const TABLE: &'static [Param];

    /// The value at an index of the table, `None` beyond its end.
    fn get(&self, place: usize) -> Option<u64>;

    /// Sets the value at an index. Returns false if the index does not exist or the value is not
    /// admissible.
    fn set(&mut self, place: usize, raw: u64) -> bool;
}

/// Defaults that are constant at compile time. Firmware with fixed parameters contains only the code
/// that these parameters need.
pub trait Known: Sized {
    /// The value of [`Default::default`].
    const DEFAULT: Self;
}

impl Known for () {
    const DEFAULT: () = ();
}

/// Type of a parameter.
pub trait Value: Copy {
    /// Converts to an integer in the unit of its [`ParamKind`].
    fn to_raw(self) -> u64;
    /// Converts from an admissible integer.
    fn from_raw(raw: u64) -> Self;
}

impl Value for u64 {
    fn to_raw(self) -> u64 {
        self
    }
    fn from_raw(raw: u64) -> u64 {
        raw
    }
}

impl Value for bool {
    fn to_raw(self) -> u64 {
        u64::from(self)
    }
    fn from_raw(raw: u64) -> bool {
        raw != 0
    }
}

impl Value for Span {
    fn to_raw(self) -> u64 {
        self.0
    }
    fn from_raw(raw: u64) -> Span {
        Span(raw)
    }
}

impl Value for Ratio {
    fn to_raw(self) -> u64 {
        self.0
    }
    fn from_raw(raw: u64) -> Ratio {
        Ratio(raw)
    }
}

/// Declares a struct of parameters and implements [`Default`] and [`Parameters`] for it.
///
/// ```
/// use windlass_cc::params::{ParamKind, Parameters, Ratio};
///
/// windlass_cc::parameters! {
///     /// Parameters of an example.
///     pub struct Params {
///         /// Fraction of the window that is kept at a loss.
///         keep: Ratio = Ratio::of(7, 10),
///             ParamKind::Ratio { min: Ratio::of(1, 10), max: Ratio::ONE },
///             "RFC 9438 section 4.6";
///     }
/// }
///
/// let mut p = Params::default();
/// assert_eq!(Params::TABLE[0].name, "keep");
/// assert!(p.set(0, Ratio::of(1, 2).0) && p.keep == Ratio::of(1, 2));
/// assert!(!p.set(0, 0), "below the range");
/// ```
#[macro_export]
macro_rules! parameters {
    ($(#[$meta:meta])* $vis:vis struct $name:ident { $(
        $(#[doc = $doc:expr])+
        $field:ident: $ty:ty = $default:expr, $kind:expr, $source:expr;
    )* }) => {
        $(#[$meta])*
        // Another compiler's build of the same source, such as a kernel's, receives the parameters in
        // this memory layout.
        #[repr(C)]
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        $vis struct $name { $( $(#[doc = $doc])+ pub $field: $ty, )* }

        impl $crate::params::Known for $name {
            const DEFAULT: $name = $name { $( $field: $default, )* };
        }

        impl Default for $name {
            fn default() -> $name {
                <$name as $crate::params::Known>::DEFAULT
            }
        }

        #[allow(unused_variables, unused_mut, unused_assignments)]
        impl $crate::params::Parameters for $name {
            const TABLE: &'static [$crate::params::Param] = &[$( $crate::params::Param {
                name: stringify!($field),
                doc: concat!($($doc),+),
                kind: $kind,
                source: $source,
            } ),*];

            fn get(&self, place: usize) -> Option<u64> {
                let mut at = 0;
                $(
                    if place == at {
                        return Some($crate::params::Value::to_raw(self.$field));
                    }
                    at += 1;
                )*
                None
            }

            fn set(&mut self, place: usize, raw: u64) -> bool {
                if !Self::TABLE.get(place).is_some_and(|param| param.kind.admits(raw)) {
                    return false;
                }
                let mut at = 0;
                $(
                    if place == at {
                        self.$field = $crate::params::Value::from_raw(raw);
                    }
                    at += 1;
                )*
                true
            }
        }
    };
}

/// Declares an enum whose values are words in scenarios, and implements [`Value`] for it.
#[macro_export]
macro_rules! choice {
    ($(#[$meta:meta])* $vis:vis enum $name:ident { $(
        $(#[$item_meta:meta])*
        $variant:ident = $word:literal,
    )* }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
        #[repr(u8)]
        $vis enum $name { $( $(#[$item_meta])* $variant, )* }

        impl $name {
            /// Every choice, in the order of [`WORDS`](Self::WORDS).
            pub const ALL: &'static [$name] = &[$($name::$variant),*];
            /// The words for the choices.
            pub const WORDS: &'static [&'static str] = &[$($word),*];
            /// The type of a parameter that takes one of the choices.
            pub const KIND: $crate::params::ParamKind =
                $crate::params::ParamKind::Choice(Self::WORDS);
        }

        impl $crate::params::Value for $name {
            fn to_raw(self) -> u64 {
                self as u64
            }
            fn from_raw(raw: u64) -> $name {
                let mut found = $name::ALL[0];
                $(
                    if raw == $name::$variant as u64 {
                        found = $name::$variant;
                    }
                )*
                found
            }
        }
    };
}
