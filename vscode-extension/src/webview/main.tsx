/**
 * The page's beginning: it says that it is there, and draws what it is told.
 *
 * Knows: where the page is drawn. Does not know: what.
 */

import { render } from "preact";

import { App } from "./app";
import { hear, tell } from "./bridge";
import { Screen } from "./model";
import "@vscode/codicons/dist/codicon.css";
import "./style/page.css";
import "./style/conversation.css";
import "./style/composer.css";

const root = document.getElementById("root");
if (root) {
  const screen: Screen = new Screen((model) => {
    render(<App model={model} onPast={(isPastShown) => screen.change((each) => ({ ...each, isPastShown }))} />, root);
  });
  hear((message) => screen.take(message));
  tell({ type: "ready" });
}
