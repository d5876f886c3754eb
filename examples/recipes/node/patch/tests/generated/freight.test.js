"use strict";

const assert = require("node:assert");
const { test } = require("node:test");
const { price } = require("../../src/freight");

test("a crate is carried by two", () => {
  assert.strictEqual(price(30_000), 32_100);
});
