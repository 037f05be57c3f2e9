//! The configurations of maps that descend a criterion: they differ in defaults and words alone.

/// Makes a configuration with a regularisation, the limits of a descent and a seed, after fields of its own, and
/// the [`LogitFit`](super::fit::LogitFit) by the function `fit` of the parameters. The limits and the seed are those
/// of a `convex` criterion, with the units of its derivatives, or those of a `network`.
macro_rules! regularised_map {
    (
        $(#[$doc:meta])*
        $config:ident for $form:ty, $name:literal, $about:literal;
        $(#[$strength:meta])* regularisation = $strength_value:tt,
        $(#[$units:meta])* convex
    ) => {
        regularised_map! {
            $(#[$doc])*
            $config for $form, $name, $about;
            $(#[$strength])* regularisation = $strength_value,
            /// The largest derivative at which the fit has converged. Default: 10⁻⁷.
            $(#[$units])*
            tolerance = 1e-7,
            max_iterations = 1000,
            /// The seed of the folds of a cross-validation. Default: 0.
            seed,
        }
    };
    (
        $(#[$doc:meta])*
        $config:ident for $form:ty, $name:literal, $about:literal { $($own:tt)* };
        network
    ) => {
        regularised_map! {
            $(#[$doc])*
            $config for $form, $name, $about { $($own)* };
            /// The weight of the squared distance of the network's weights from their start, where the map is the
            /// temperature. Default: by cross-validation in 5 folds.
            regularisation = "Regularisation::CrossValidated { folds: 5 }",
            /// The largest derivative at which the fit has converged. Default: 10⁻⁵.
            tolerance = 1e-5,
            max_iterations = 200,
            /// The seed of the hidden units and of the folds. Default: 0.
            seed,
        }
    };
    (
        $(#[$doc:meta])*
        $config:ident for $form:ty, $name:literal, $about:literal
        $({ $($(#[$own_doc:meta])* $own:ident: $type:ty = $value:tt,)* })?;
        $(#[$strength:meta])* regularisation = $strength_value:tt,
        $(#[$tolerance:meta])* tolerance = $tolerance_value:tt,
        max_iterations = $iterations:tt,
        $(#[$seed:meta])* seed,
    ) => {
        $(#[$doc])*
        #[derive(Config, Debug)]
        pub struct $config {
            $($($(#[$own_doc])* #[config(default = $value)] pub $own: $type,)*)?
            $(#[$strength])*
            #[config(default = $strength_value)]
            pub regularisation: Regularisation,
            $(#[$tolerance])*
            #[config(default = $tolerance_value)]
            pub tolerance: f64,
            #[doc = concat!("The most iterations. Default: ", $iterations, ".")]
            #[config(default = $iterations)]
            pub max_iterations: usize,
            $(#[$seed])*
            #[config(default = 0)]
            pub seed: u64,
        }

        impl LogitFit for $config {
            type Form = $form;
            const NAME: &'static str = $name;
            const ABOUT: &'static str = $about;
            const DEFAULT: fn(u64) -> Self = |seed| Self::new().with_seed(seed);

            fn find(&self, task: Task) -> Result<FitOutcome<Self::Form>> {
                let limits = Limits::new(self.tolerance, self.max_iterations);
                let settings = Settings::new(self.regularisation, limits, self.seed);
                Self::Form::fit($($(self.$own,)*)? settings, task)
            }
        }
    };
}

pub(super) use regularised_map;
