/** The page's host in VS Code. */

import type { ToHost, ToView } from "../panel/protocol";
import type { Kept, PageHost } from "./page_host";

interface Api {
  postMessage(message: ToHost): void;
  getState(): Kept | undefined;
  setState(state: Kept): void;
}
declare function acquireVsCodeApi(): Api;

export function editorHost(): PageHost {
  const api = acquireVsCodeApi();
  return {
    post: (message) => api.postMessage(message),
    listen: (listener) => window.addEventListener("message", (event: MessageEvent<ToView>) => listener(event.data)),
    getState: () => api.getState(),
    setState: (state) => api.setState(state),
  };
}
