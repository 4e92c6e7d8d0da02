/**
 * The tests that run inside a real extension host; the contract is that of @vscode/test-electron.
 */

import Mocha from "mocha";

import { declareDocumentTests } from "./documents";
import { declareExtensionTests } from "./extension";

const WAIT_MS = 90_000;

export function run(): Promise<void> {
  const mocha = new Mocha({ ui: "bdd", timeout: WAIT_MS, reporter: "spec" });
  mocha.suite.emit("pre-require", globalThis as unknown as Mocha.MochaGlobals, "", mocha);
  declareExtensionTests();
  declareDocumentTests();
  return new Promise((resolve, reject) => {
    mocha.run((failures) => (failures > 0 ? reject(new Error(`${failures} tests failed`)) : resolve()));
  });
}
