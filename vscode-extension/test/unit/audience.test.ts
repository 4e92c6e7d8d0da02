import { describe, expect, it, vi } from "vitest";

import { Audience, type Reader } from "../../src/panel/audience";
import { EMPTY, fold, type Model } from "../../src/webview/model";
import { Store } from "../../src/state/store";

/** A page that folds the events it receives, and its connection to a store that sends them. */
class Page {
  model: Model = EMPTY;
  readonly read: Reader = (message) => {
    this.model = fold(this.model, message);
  };

  get words(): string | undefined {
    const item = this.model.sessions["s"]?.items[0];
    return item?.type === "agent" ? item.text : undefined;
  }
}

class Scene {
  readonly store = new Store();
  readonly audience = new Audience();

  constructor() {
    this.store.open("s", "/p");
    this.store.listen((id, events) => this.audience.postEvents(id, events));
  }

  say(text: string): void {
    this.store.dispatch("s", { type: "said", who: "agent", id: "a", text });
  }

  /** A page announces itself, and gets everything. */
  open(page: Page): void {
    this.audience.admit(page.read);
    for (const session of this.store.all()) page.read({ type: "session", session });
  }
}

describe("whoever looks at the panel", () => {
  it("reads every word once, coming while words are on their way to another", () => {
    vi.useFakeTimers();
    const scene = new Scene();
    const [early, late] = [new Page(), new Page()];
    scene.open(early);
    scene.say("one ");
    scene.open(late);
    scene.say("two");
    vi.runAllTimers();
    vi.useRealTimers();
    expect([early.words, late.words]).toEqual(["one two", "one two"]);
  });

  it("reads every word once when the page is made anew", () => {
    vi.useFakeTimers();
    const scene = new Scene();
    const page = new Page();
    scene.open(page);
    scene.say("one ");
    page.model = EMPTY;
    scene.open(page);
    scene.say("two");
    vi.runAllTimers();
    vi.useRealTimers();
    expect(page.words).toBe("one two");
  });

  it("hears what must be heard, be it the first to come", () => {
    vi.useFakeTimers();
    const scene = new Scene();
    const page = new Page();
    scene.audience.postSurely({ type: "focus" });
    scene.open(page);
    scene.audience.postSurely({ type: "showPast" });
    vi.runAllTimers();
    vi.useRealTimers();
    expect([page.model.focused, page.model.isPastShown]).toEqual([1, true]);
  });

  it("hears nothing any more once it is gone", () => {
    const scene = new Scene();
    const page = new Page();
    scene.open(page);
    scene.audience.dismiss(page.read);
    scene.audience.post({ type: "focus" });
    expect(page.model.focused).toBe(0);
  });
});
