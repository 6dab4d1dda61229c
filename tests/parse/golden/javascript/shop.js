#!/usr/bin/env node
"use strict";
import def, { a as b, c } from "./x.js";
import * as ns from "ns";

const fs = require("fs");
let counter = 0, total;

/**
 * Adds things.
 * @param {number} x
 */
export async function add(x) {
  function inner() { return x; }
  return inner();
}

function* ids() { yield 1; }

/** A basket. */
export default class Basket extends ns.Base {
  #items = [];
  static LIMIT = 3;
  total = () => this.#items.length;
  constructor() { super(); }
  get size() { return this.#items.length; }
  static async of(...items) { return new Basket(); }
}

export const arrow = (x) => x * 2;
const Klass = class { run() {} };
const store = create({
  load() { return 1; },
  save: function () { return 2; },
});
module.exports.helper = function () {};
Basket.prototype.old = function () { return 1; };

describe("Basket", () => {
  it("is empty", () => { expect(1); });
});

const handlers = {
  user: {
    created: (event) => event,
    nested: { removed: (event) => null },
  },
};

describe("totals", () => {
  test.each([1, 2])("adds %i", (n) => {
    expect(n).toBe(n);
  });
});
