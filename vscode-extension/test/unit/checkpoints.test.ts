import { expect, it } from "vitest";

import type { Link } from "../../src/acp/link";
import { Checkpoints } from "../../src/edits/checkpoints";
import type { Dialogs } from "../../src/panel/host";
import { Store } from "../../src/state/store";

const CHECKPOINT = {
  id: "c1",
  turnId: "turn_1",
  createdAt: "2026-11-30T16:20:00Z",
  files: [{ path: "/p/a.py", change: "modified" }],
  isUndone: false,
};
const LATER_MS = Date.parse(CHECKPOINT.createdAt) + 60_000;

function ended(endId: string): { store: Store; checkpoints: Checkpoints } {
  const store = new Store();
  store.open("s", "/p");
  store.dispatch("s", { type: "begun", id: endId }, { type: "ended", id: endId, reason: "end_turn", text: "" });
  const checkpoints = new Checkpoints(store, {} as Dialogs, (warning) => expect.unreachable(warning));
  checkpoints.adopt({
    agent: { request: () => Promise.resolve({ checkpoints: [CHECKPOINT] }) },
    greeting: { agentCapabilities: { _meta: { hermes: { checkpoints: true } } } },
  } as unknown as Link);
  return { store, checkpoints };
}

const shownBelow = (store: Store) =>
  store.get("s")?.items.flatMap((item) => (item.type === "end" && item.checkpoint ? [item.checkpoint.id] : []));

it("shows the changes of a turn that was joined after they were made", async () => {
  const { store, checkpoints } = ended("turn_1");
  await checkpoints.note("s", "turn_1", LATER_MS);
  expect(shownBelow(store)).toEqual(["c1"]);
});

it("shows no changes of an earlier turn below one that changed nothing", async () => {
  const { store, checkpoints } = ended("own");
  await checkpoints.note("s", "own", LATER_MS);
  expect(shownBelow(store)).toEqual([]);
});
