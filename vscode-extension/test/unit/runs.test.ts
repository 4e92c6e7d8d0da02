import { expect, it } from "vitest";

import type { Link } from "../../src/acp/link";
import { Runs } from "../../src/work/runs";

/** A server that answers `show` when the test says so. */
class Server {
  readonly shows: { readonly id: string; answer(title: string): void }[] = [];
  readonly link = {
    agent: {
      request: (method: string, { id }: { id?: string }) =>
        method === "_hermes/runs/list"
          ? Promise.resolve({ runs: [], isDriven: true })
          : new Promise((resolve) => {
              const answer = (title: string) => resolve({ questions: [{ callId: id, title }] });
              this.shows.push({ id: id ?? "", answer });
            }),
    },
    greeting: { agentCapabilities: { _meta: { hermes: { runs: true } } } },
  } as unknown as Link;
}

async function settled(isSo: () => boolean): Promise<void> {
  for (let turn = 0; turn < 100 && !isSo(); turn += 1) await Promise.resolve();
}

it("shows no questions of a run under another that is looked at meanwhile", async () => {
  const server = new Server();
  const runs = new Runs();
  runs.adopt(server.link);
  const first = runs.act({ type: "look", id: "one" });
  await settled(() => server.shows.length === 1);
  const second = runs.act({ type: "look", id: "two" });
  await settled(() => server.shows.length === 2);
  expect(server.shows.map(({ id }) => id)).toEqual(["one", "two"]);
  server.shows[1]?.answer("of two");
  await second;
  server.shows[0]?.answer("of one");
  await first;
  expect(runs.shown.value.questions.map(({ title }) => title)).toEqual(["of two"]);
});
