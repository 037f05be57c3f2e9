//! The networks against the published counts and against PyTorch, a module for each question.

mod counts;
mod gradients;
mod initial;
mod load;
mod names;
mod reference;
mod shapes;
mod stochastic_depth;
mod visit;
