//! Tables of predictions of real numbers.

use burn_calibration::{
    distribution::{Geometry, Marginals, Mixture, Normal, Predictive, Samples},
    hypothesis::Omnibus,
    kernel::{RealKernel, TargetKernel},
};

use crate::{
    Result,
    models::{Draws, Model, Real, Trend, Trending},
    rejections::{Setting, Settings, Study, table},
    tests,
};

pub fn tables(study: &Study) -> Result<()> {
    let all = study.options.datasets;
    let of = |name: &str, samples, shift, spread| {
        let model = Real {
            samples,
            shift,
            spread,
        };
        (name.to_owned(), model)
    };
    fn boxed<P: Predictive, M>(settings: &[(String, M)]) -> Settings<P>
    where
        M: Model<P, P::Targets> + Copy + 'static,
    {
        let one = |(name, model): &(String, M)| {
            let model: Box<dyn Model<P, P::Targets>> = Box::new(*model);
            (name.clone(), model)
        };
        settings.iter().map(one).collect()
    }
    fn levels<P: Omnibus + Marginals + Geometry + Send, M>(
        title: &str,
        settings: &[(String, M)],
        form: (usize, usize, bool),
        study: &Study,
    ) -> Result<()>
    where
        M: Model<P, P::Targets> + Copy + 'static,
        RealKernel: TargetKernel<P::Unconditional>,
    {
        let asymptotic = title.contains("normal");
        let tests = tests::real::<P>(study.options.redraws, asymptotic);
        table(title, &tests, &boxed::<P, M>(settings), form, study)
    }
    let calibrated = [16, 50, 200].map(|n| of(&format!("n = {n}"), n, 0.0, 1.0));
    let form = (all, 3, true);
    levels::<Normal, _>("levels: normal predictions", &calibrated, form, study)?;
    levels::<Mixture<Normal>, _>(
        "levels: ensembles of five",
        &calibrated[..2],
        (all / 4, 3, true),
        study,
    )?;
    let draws = [
        (16, 50, false),
        (50, 50, false),
        (200, 50, false),
        (50, 1, false),
        (50, 2, false),
        (200, 5, false),
        (200, 20, true),
    ];
    let draws = draws.map(|(samples, each, counts)| {
        let of_counts = if counts { " of counts" } else { "" };
        let name = format!("n = {samples}, {each} draws{of_counts}");
        let model = Draws {
            samples,
            each,
            counts,
        };
        (name, model)
    });
    levels::<Samples, _>("levels: draws", &draws, form, study)?;
    let wrong = [
        of("targets 0.15 standard deviations high", 250, 0.15, 1.0),
        of("intervals too narrow by a tenth", 250, 0.0, 1.1),
        of("intervals too wide by a tenth", 250, 0.0, 0.9),
    ];
    levels::<Normal, _>(
        "powers: normal predictions, n = 250",
        &wrong,
        (all / 8, 1, false),
        study,
    )?;
    let trends = [
        (
            "variance of z is 1.5 or 0.5, by deviation",
            Trend::VarianceByDeviation,
            150,
        ),
        ("y = 0.83 m + e", Trend::Slope, 100),
        (
            "two coordinates have correlation 0.3",
            Trend::Correlation,
            120,
        ),
    ];
    for (name, trend, samples) in trends {
        let settings: [Setting<Normal>; 1] = [(
            format!("{name}, n = {samples}"),
            Box::new(Trending { trend, samples }),
        )];
        let tests = [tests::trend(study.options.redraws, trend)];
        let title = format!("powers: trends, {name}");
        table(&title, &tests, &settings, (all / 8, 1, false), study)?;
    }
    Ok(())
}
