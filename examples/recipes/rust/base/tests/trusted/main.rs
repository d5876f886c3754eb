mod letters;
