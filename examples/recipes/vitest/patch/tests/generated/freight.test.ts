import { expect, test } from "vitest";
import { price } from "../../src/freight";

test("a crate is carried by two", () => {
  expect(price(30_000)).toBe(32_100);
});
