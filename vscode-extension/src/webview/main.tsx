/**
 * The start of the page: it reports that it is ready, and draws what it receives.
 *
 * Knows: where the page is drawn. Does not know: what.
 */

import { render } from "preact";

import { App } from "./app";
import { listen, post } from "./bridge";
import { Screen } from "./model";
import { takeLocated } from "./places";
import "@vscode/codicons/dist/codicon.css";
import "./style/page.css";
import "./style/conversation.css";
import "./style/composer.css";
import "./style/queue.css";

const root = document.getElementById("root");
if (root) {
  const screen: Screen = new Screen((model) => {
    render(<App model={model} onPast={(isPastShown) => screen.change((each) => ({ ...each, isPastShown }))} />, root);
  });
  listen((message) => (message.type === "located" ? takeLocated(message.places) : screen.take(message)));
  const tellFocus = () => post({ type: "focus", isFocused: document.hasFocus() });
  for (const change of ["focus", "blur"]) window.addEventListener(change, tellFocus);
  post({ type: "ready" });
  tellFocus();
}
