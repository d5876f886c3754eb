// What Istanbul's instrumenter calls a statement. Reads paths, one a line; writes what compare.py reads.
//
//     npm install istanbul-lib-instrument
//     find node_modules -name '*.js' | node istanbul.js > istanbul.jsonl
"use strict";
const fs = require("fs");
const { createRequire } = require("module");
const { createInstrumenter } = createRequire(process.cwd() + "/")("istanbul-lib-instrument");

function coverage(path, source, esModules) {
  const instrumenter = createInstrumenter({ esModules, produceSourceMap: false });
  instrumenter.instrumentSync(source, path);
  return instrumenter.lastFileCoverage();
}

for (const path of fs.readFileSync(0, "utf8").split("\n").filter(Boolean)) {
  const source = fs.readFileSync(path, "utf8");
  let found;
  try {
    found = coverage(path, source, false);
  } catch {
    try {
      found = coverage(path, source, true);
    } catch {
      continue; // no JavaScript that Babel reads, or told to be ignored
    }
  }
  const lines = new Set();
  const within = new Set();
  for (const { start, end } of Object.values(found.statementMap)) {
    lines.add(start.line);
    for (let line = start.line; line <= end.line; line += 1) within.add(line);
  }
  for (const { loc } of Object.values(found.branchMap)) {
    for (let line = loc.start.line; line <= (loc.end.line || loc.start.line); line += 1) within.add(line);
  }
  console.log(JSON.stringify({ f: path, lines: [...lines], within: [...within] }));
}
