"use strict";

const assert = require("node:assert");
const { test } = require("node:test");
const { price } = require("../../src/freight");

test("a letter has a price", () => {
  assert.strictEqual(price(500), 800);
});
