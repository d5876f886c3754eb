import { expect, test } from "vitest";
import { price } from "../../src/freight";

test("a letter has a price", () => {
  expect(price(500)).toBe(800);
});
