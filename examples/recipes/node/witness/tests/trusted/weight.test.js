"use strict";

const assert = require("node:assert");
const { test } = require("node:test");
const { price } = require("../../src/freight");

test("what weighs more never costs less", () => {
  assert.ok(price(30_000) > price(20_000));
});
