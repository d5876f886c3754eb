import { expect, test } from "vitest";
import { price } from "../../src/freight";

test("what weighs more never costs less", () => {
  expect(price(30_000)).toBeGreaterThan(price(20_000));
});
