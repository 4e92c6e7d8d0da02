// Runs the scenarios in one window, in order, and says of each in a line of JSON how it went.
//
// Usage: run.mjs CONFIG_AS_JSON [NAME…]

import { SCENARIOS } from "./scenarios.mjs";
import { Scene } from "./scene.mjs";

const [config, ...names] = process.argv.slice(2);
const scene = await Scene.open(JSON.parse(config));
scene.shot = scene.shot.bind(scene);
const say = (line) => process.stdout.write(`${JSON.stringify(line)}\n`);
try {
  for (const scenario of SCENARIOS) {
    if (names.length > 0 && !names.includes(scenario.name) && scenario !== SCENARIOS[0]) continue;
    const began = Date.now();
    let error = "";
    try {
      await scenario(scene);
    } catch (trouble) {
      error = trouble instanceof Error ? `${trouble.message}\n${trouble.stack ?? ""}` : String(trouble);
      await scene.shot(`failed-${scenario.name}`).catch(() => undefined);
    }
    say({ name: scenario.name, seconds: (Date.now() - began) / 1000, error });
    if (error && scenario === SCENARIOS[0]) break;
  }
} finally {
  await scene.close();
}
