/** The connection between the pages and their host. */

import type { FromPages, ToPages } from "../../pages/protocol";

declare function acquireVsCodeApi(): { postMessage(message: FromPages): void };

const api = acquireVsCodeApi();

export function post(message: FromPages): void {
  api.postMessage(message);
}

export function listen(listener: (message: ToPages) => void): void {
  window.addEventListener("message", (event: MessageEvent<ToPages>) => listener(event.data));
}
