/** Child agents as items of their parent session. */

import type { SessionEvent } from "./events";
import type { ChildCall, ChildItem } from "./terms";

export type ChildEvent = Extract<SessionEvent, { type: "child" | "childCall" | "childSaid" }>;

/** The maximum calls and characters kept of a child. The oldest are dropped first. */
const MAX_CALLS = 100;
const MAX_TEXT = 16 * 1024;

export function emptyChild(id: string): ChildItem {
  return { type: "child", id, title: "", state: "running", error: "", calls: [], text: "" };
}

export function changeChild(child: ChildItem, event: ChildEvent): ChildItem {
  switch (event.type) {
    case "child": {
      const { title = child.title, state = child.state, error = child.error } = event;
      return { ...child, title, state, error };
    }
    case "childSaid":
      return { ...child, text: (child.text + event.text).slice(-MAX_TEXT) };
    case "childCall": {
      const { id, title, kind, status } = event.call;
      const at = child.calls.findIndex((call) => call.id === id);
      const before: ChildCall = child.calls[at] ?? { id, title: "", kind: "other", status: "pending" };
      const call: ChildCall = {
        id,
        title: title ?? before.title,
        kind: kind ?? before.kind,
        status: status ?? before.status,
      };
      // Text before a call only led up to it.
      if (at < 0) return { ...child, text: "", calls: [...child.calls, call].slice(-MAX_CALLS) };
      return { ...child, calls: child.calls.with(at, call) };
    }
  }
}
