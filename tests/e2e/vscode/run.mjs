// Runs the scenarios in one window, in order, and prints each result as a line of JSON.
//
// If two in a row fail, the window is not in the state that the others expect: the run ends.
// Usage: run.mjs CONFIG_AS_JSON [NAME…]. The first scenario always runs; the names select which others follow, and their order.

import { SCENARIOS } from "./scenarios.mjs";
import { bounded, Scene } from "./scene.mjs";

const MAX_FAILED = 2;
const [config, ...names] = process.argv.slice(2);
const scene = await Scene.open(JSON.parse(config));
scene.shot = scene.shot.bind(scene);
const say = (line) => process.stdout.write(`${JSON.stringify(line)}\n`);
try {
  const [first, ...others] = SCENARIOS;
  const chosen = names.map((name) => SCENARIOS.find((each) => each.name === name));
  let failed = 0;
  for (const scenario of [first, ...(names.length > 0 ? chosen : others)]) {
    const began = Date.now();
    let error = "";
    try {
      await bounded(scenario(scene));
    } catch (thrown) {
      error = thrown instanceof Error ? `${thrown.message}\n${thrown.stack ?? ""}` : String(thrown);
      await scene.shot(`failed-${scenario.name}`).catch(() => undefined);
    }
    say({ name: scenario.name, seconds: (Date.now() - began) / 1000, error });
    failed = error ? failed + 1 : 0;
    if (failed === MAX_FAILED || (error && scenario === first)) break;
  }
} finally {
  await scene.close();
}
