mod letters;
mod weight;
