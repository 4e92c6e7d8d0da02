import { describe, expect, it, vi } from "vitest";

import type { Link } from "../../src/acp/link";
import type { EditsListFile } from "../../src/acp/own";
import { isSameEdit } from "../../src/edits/bridge";
import { hunksOf } from "../../src/edits/hunks";
import { Reviews } from "../../src/edits/reviews";
import { WrittenEdits } from "../../src/edits/written";

const PATH = "/p/a.txt";
const BEFORE = "one\ntwo\nthree\nfour\nfive\n";
const AFTER = "ONE\ntwo\nTHREE\nfour\nFIVE\n";

/** A server that keeps one file under review, played by the test. */
const CALL = { sessionId: "s", callId: "c" };

class Scene {
  readonly asked: [method: string, params: Record<string, unknown>][] = [];
  files: EditsListFile[] = [listed(BEFORE, AFTER)];
  open = 3;
  isWanted = true;
  readonly reviews = new Reviews();
  readonly written = new WrittenEdits(
    this.reviews,
    () => this.isWanted,
    (warning) => expect.unreachable(warning),
  );

  constructor(reviews = true) {
    const request = async (method: string, params: Record<string, unknown>) => {
      this.asked.push([method, params]);
      return method.endsWith("list") ? { files: this.files, waiting: [], judged: [] } : { open: this.open };
    };
    const greeting = { agentCapabilities: { _meta: { hermes: { reviews } } } };
    this.written.adopt({ agent: { request }, greeting, isClosed: false } as unknown as Link);
  }

  get verdicts(): readonly string[] {
    return this.reviews.find(CALL, PATH)?.verdicts ?? [];
  }
}

function listed(oldText: string, newText: string): EditsListFile {
  const hunks = hunksOf(oldText, newText);
  return { path: PATH, revision: "r", callIds: ["b", "c"], oldText, newText, hunks };
}

describe("written edits", () => {
  it("are shown as the server has them", async () => {
    const scene = new Scene();
    await scene.written.refresh("s");
    expect(scene.verdicts).toEqual(["open", "open", "open"]);
    expect(scene.reviews.find(CALL, PATH)?.when).toBe("after");
  });

  it("are judged there, by their places among those that are open", async () => {
    const scene = new Scene();
    await scene.written.refresh("s");
    scene.open = 2;
    scene.reviews.judge(CALL, PATH, 0, "accepted");
    scene.reviews.judge(CALL, PATH, 2, "rejected");
    await scene.written.refresh("s");
    const said = scene.asked.filter(([method]) => method.endsWith("judge")).map(([, params]) => params);
    expect(said).toEqual([
      { sessionId: "s", path: PATH, verdict: "accepted", hunks: [0], isDone: true },
      { sessionId: "s", path: PATH, verdict: "rejected", hunks: [1], isDone: false },
    ]);
  });

  it("are looked at again when somebody else judged, and only then", async () => {
    const scene = new Scene();
    await scene.written.refresh("s");
    scene.written.receive({ sessionId: "s", path: PATH, open: 3 });
    await scene.written.refresh("s");
    const looks = () => scene.asked.filter(([method]) => method.endsWith("list")).length;
    expect(looks()).toBe(2);
    scene.files = [];
    scene.written.receive({ sessionId: "s", path: PATH, open: 0 });
    await vi.waitFor(() => expect(scene.reviews.all()).toEqual([]));
    expect(looks()).toBe(3);
  });

  it("are taken back by the server, all at once", async () => {
    const scene = new Scene();
    await scene.written.refresh("s");
    scene.open = 0;
    scene.reviews.judgeFile(CALL, PATH, "rejected");
    await scene.written.refresh("s");
    expect(scene.asked[1]?.[1]).toMatchObject({ hunks: [0, 1, 2], isDone: false });
  });

  it("are looked at again when their file has changed, and no other", async () => {
    const scene = new Scene();
    await scene.written.refresh("s");
    scene.files = [];
    scene.written.noteChanged("/p/b.txt");
    scene.written.noteChanged(PATH);
    await vi.waitFor(() => expect(scene.reviews.all()).toEqual([]));
    expect(scene.asked.filter(([method]) => method.endsWith("list")).length).toBe(2);
  });

  it("cannot be open again once they are judged", async () => {
    const scene = new Scene();
    await scene.written.refresh("s");
    scene.open = 2;
    scene.reviews.judge(CALL, PATH, 0, "rejected");
    scene.reviews.judge(CALL, PATH, 0, "open");
    expect(scene.verdicts[0]).toBe("rejected");
  });

  it("are looked at again where the server counts otherwise", async () => {
    const scene = new Scene();
    await scene.written.refresh("s");
    scene.open = 1;
    scene.files = [listed("ONE\ntwo\nTHREE\nfour\nfive\n", AFTER)];
    scene.reviews.judge(CALL, PATH, 0, "accepted");
    await scene.written.refresh("s");
    expect(scene.verdicts).toEqual(["open"]);
  });

  it("go when they are no longer listed, and with their session", async () => {
    const scene = new Scene();
    await scene.written.refresh("s");
    scene.files = [];
    await scene.written.refresh("s");
    expect(scene.reviews.all()).toEqual([]);
    scene.files = [listed(BEFORE, AFTER)];
    await scene.written.refresh("s");
    scene.written.drop("s");
    expect(scene.reviews.all()).toEqual([]);
  });

  it("are not asked for where nobody wants them, or the server has none", async () => {
    const scene = new Scene();
    scene.isWanted = false;
    await scene.written.refresh("s");
    await new Scene(false).written.refresh("s");
    expect(scene.asked).toEqual([]);
  });
});

describe("hunks under review", () => {
  const shown = { path: PATH, oldText: null, newText: "one\ntwo\n" };
  const whole = { oldStart: 0, oldLines: [], newStart: 0, newLines: ["one", "two", ""] };

  it("are those of a card that shows the same new file", () => {
    expect(isSameEdit(shown, { diff: shown, hunks: [whole] })).toBe(true);
    expect(isSameEdit(shown, { diff: { ...shown, newText: "one\n2\n" }, hunks: [whole] })).toBe(false);
  });

  it("are those of a card whose hunks stand at the same lines", () => {
    const diff = { path: PATH, oldText: BEFORE, newText: AFTER };
    const hunks = hunksOf(BEFORE, AFTER);
    expect(isSameEdit(diff, { diff, hunks })).toBe(true);
    expect(isSameEdit(diff, { diff, hunks: hunks.slice(1) })).toBe(false);
  });
});
