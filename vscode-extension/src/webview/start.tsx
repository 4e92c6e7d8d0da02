/** The start of the page: it reports that it is ready, and draws what it receives. */

import type { ComponentChildren } from "preact";
import { render } from "preact";

import { App } from "./app";
import { listen, post, takeDrafts, useHost } from "./bridge";
import { Screen, type Model } from "./model";
import type { PageHost } from "./page_host";
import { takeLocated } from "./places";
import "@vscode/codicons/dist/codicon.css";
import "./style/page.css";
import "./style/conversation.css";
import "./style/composer.css";
import "./style/queue.css";

/** Render the page. `frame` adds the parts that a host shows around it. */
export function start(
  host: PageHost,
  frame: (app: ComponentChildren, model: Model, onPast: (isShown: boolean) => void) => ComponentChildren = (app) => app,
): void {
  const root = document.getElementById("root");
  if (!root) return;
  useHost(host);
  const showPast = (isPastShown: boolean) => screen.change((each) => ({ ...each, isPastShown }));
  const screen: Screen = new Screen((model) => {
    render(frame(<App model={model} onPast={showPast} />, model, showPast), root);
  });
  listen((message) => {
    if (message.type === "located") takeLocated(message.places);
    else if (message.type === "drafts") takeDrafts(message);
    else screen.take(message);
  });
  const tellFocus = () => post({ type: "focus", isFocused: document.hasFocus() });
  for (const change of ["focus", "blur"]) window.addEventListener(change, tellFocus);
  post({ type: "ready" });
  tellFocus();
}
