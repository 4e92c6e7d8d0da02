/** The start of the page in VS Code. */

import { editorHost } from "./editor_host";
import { start } from "./start";

start(editorHost());
