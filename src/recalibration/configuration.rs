//! The configurations of maps that descend a criterion: they differ in defaults and words alone.

/// Makes a configuration with fields of its own, a regularisation, the limits of a descent and a seed; and the
/// [`LogitFit`](super::LogitFit) by a function `fit` of the parameters, whose first arguments are given.
macro_rules! regularised_map {
    (
        $(#[$doc:meta])*
        $config:ident for $map:ident by $form:ident($($fixed:expr),*);
        { $($(#[$own_doc:meta])* $own:ident: $type:ty = $value:tt,)* }
        $(#[$strength:meta])* regularisation = $strength_value:tt,
        tolerance = $tolerance:tt, max_iterations = $iterations:tt
    ) => {
        $(#[$doc])*
        #[derive(Config, Debug)]
        #[must_use]
        pub struct $config {
            $($(#[$own_doc])* #[config(default = $value)] pub $own: $type,)*
            $(#[$strength])*
            #[config(default = $strength_value)]
            pub regularisation: Regularisation,
            #[doc = concat!("The largest derivative at which the fit has converged. Default: ", $tolerance, ".")]
            #[config(default = $tolerance)]
            pub tolerance: f64,
            #[doc = concat!("The most iterations. Default: ", $iterations, ".")]
            #[config(default = $iterations)]
            pub max_iterations: usize,
            /// The seed of the folds of a cross-validation, and of the hidden units of a network (ChaCha12). Default: 0.
            #[config(default = 0)]
            pub seed: u64,
        }

        impl LogitFit for $config {
            type Map = $map;

            fn find(&self, task: &mut FitTask) -> Result<$map> {
                let settings = Settings {
                    regularisation: self.regularisation,
                    limits: Limits::new(self.tolerance, self.max_iterations),
                    seed: self.seed,
                };
                let (form, report) = $form::fit($($fixed,)* $(self.$own,)* settings, task)?;
                Ok($map::new(form, report))
            }
        }
    };
}

pub(super) use regularised_map;
