/** Texts for people on the pages: setup, MCP servers, rules and context files, trust. */

import { plural } from "./plural";
import { WORK_PAGE_NAMES } from "./work";

export const PAGES_TITLE = "Hermes: Overview";
export const PAGE_NAMES = {
  ...WORK_PAGE_NAMES,
  setup: "Setup and models",
  mcp: "MCP servers",
  context: "Rules and context",
  trust: "Trust",
} as const;
export const PAGES_LABEL = "Pages";
export const REFRESH = "Refresh";
export const NO_FOLDER = "Open a folder first. This page is about a folder.";
export const SERVER_TOO_OLD = "This server is too old to list this. Update it.";

export const SETUP_TITLE = "Set up Hermes";
export const MODELS_TITLE = "Server and models";
export const SETUP_INTRODUCTION = "Two steps: the server, which runs on this machine, and a model.";
export const STEP_SERVER = "Server";
export const STEP_MODEL = "Model";
export const STEP_DONE = "done";
export const STEP_OPEN = "open";
export const LOOKING = "Looking for the server";
export const STARTING_SERVER = "Starting the server";
export const serverReady = (version: string, source: string) => `Version ${version}, from ${source}.`;
export const INSTALL = "Install the server";
export const INSTALL_HINT =
  "It is installed into the extension's own environment. The packages it needs come from PyPI.";
export const TRY_AGAIN = "Try again";
export const INSTALLER_WORDS = "Installer output";
export const OLD_SERVER = "This server cannot be set up from here. Run `hermes-acp setup` in a terminal.";

export const modelInUse = (model: string, provider: string) =>
  model ? `${model}, from ${provider}` : `The endpoint's own choice, from ${provider}`;
export const fallbacksInUse = (names: string) => `If it fails: ${names}.`;
export const storedIn = (config: string, secrets: string) => `Settings: ${config}. Keys: ${secrets}.`;
export const OPEN_CONFIG = "Open config.yaml";
export const PROVIDER = "Provider";
export const BASE_URL = "Address";
export const URL_START = "https://";
export const KEY = "API key";
export const keyHeld = (variable: string) => `Leave it empty to use the key in ${variable}.`;
export const keyStored = (file: string) => `It is stored in ${file}, which only you can read, and nowhere else.`;
export const MODEL = "Model";
export const MODEL_HINT = "Leave empty to use the default model. A test lists what the endpoint offers.";
export const modelsFound = (count: number) => `The endpoint lists ${plural(count, "model")}.`;
export const TESTING = "Testing";
export const TEST_AND_SAVE = "Test and save";
export const SAVE_ANYWAY = "Save without a working test";
export const CHANGE_MODEL = "Set up another model";
export const works = (model: string) => `${model} answers.`;
export const doesNotWork = (model: string) => (model ? `${model} does not answer.` : "The test failed.");
export const saved = (file: string) => `Saved in ${file}.`;
export const overridden = (names: string) =>
  `Saved, but the environment that VS Code was started with takes precedence: ${names}.`;

export const FIRST_PROMPTS_TITLE = "What to ask first";
export const FIRST_PROMPTS = [
  "Explain what this project does and how it is organised.",
  "Find a bug or a rough edge here, and suggest a fix.",
  "Run the tests and explain what fails.",
] as const;
export const BEGIN = "Start";
export const OPTIONS_TITLE = "In the editor";
export const OFFER_ACTIONS = "Offer code actions on selections and errors";
export const OFFER_COMPLETION = "Suggest text while I type. Each pause asks the model.";

export const SCOPES = { user: "Yours", editor: "From the editor", workspace: "From this folder" } as const;
export const NO_SERVERS = "There are no MCP servers here. Your own go into config.yaml under mcp_servers.";
export const serverNotice = (name: string, text: string) => `${name}: ${text}`;
export const toolCount = (tools: number, prompts: number) =>
  prompts > 0 ? `${plural(tools, "tool")}, ${plural(prompts, "prompt")}` : plural(tools, "tool");
export const RECONNECT = "Reconnect";
export const SIGN_IN = "Sign in";
export const SIGN_OUT = "Sign out";
export const SWITCH_OFF = "Switch off";
export const SWITCH_ON = "Switch on";
export const serverAction = (action: string, name: string) => `${action}: ${name}`;
export const NOT_TRUSTED = "Not trusted";
export const openFile = (file: string) => `Open ${file}`;

export const CONTEXT_INTRODUCTION = "Files with instructions for agents. The nearest comes last and takes precedence.";
export const NO_CONTEXT =
  "No context files are read here. Write one, such as AGENTS.md, with what an agent should know.";
export const NOT_READ = "Not read";
export const tokens = (count: number) => `about ${plural(count, "token")}`;
export const CUT = "shortened";
export const NOT_APPROVED = "new, changed or rejected during a session, not approved, not read";
export const ALLOWED_AS_IS = "allowed as it is";
export const NO_FINDINGS = "The scanner found nothing.";
export const finding = (severity: string, line: number, why: string, rule: string) =>
  `Line ${line}, ${severity}: ${why} (${rule})`;

export const TRUST_INTRODUCTION = "What this folder contains that can run code or loosen your rules.";
const TRUST_KINDS = new Map([
  ["mcp_server", "MCP server"],
  ["context_file", "Context file"],
  ["prompt", "Prompt file"],
  ["variables", "Variables for commands"],
]);
const capitalised = (kind: string) => `${kind.slice(0, 1).toUpperCase()}${kind.slice(1).replaceAll("_", " ")}`;
const trustKind = (kind: string) => TRUST_KINDS.get(kind) ?? capitalised(kind);
/** Name an item of a folder by its kind. Newer servers may have more kinds. */
export const trustItem = (kind: string, name: string) =>
  kind === name ? trustKind(kind) : `${trustKind(kind)} ${name}`;
export const NOTHING_TO_TRUST = "This folder contains nothing that needs your trust.";
export const EDITOR_DISTRUSTS = "VS Code does not trust this folder, so nothing in it is used.";
export const MANAGE_TRUST = "Manage";
export const TRUSTED = "Trusted until it changes";
export const WHAT_WOULD_RUN = "Not trusted, so not used. A session asks before it uses this. You can also send /trust.";
export const REVOKE = "Trust nothing here";
export const ANSWERS_TITLE = "Permanent answers";
export const NO_ANSWERS = "You have given no permanent answers in this folder.";
export const ALWAYS_ALLOWED = "Always allowed";
export const ALWAYS_REJECTED = "Always rejected";
export const FORGET = "Forget these answers";
export const TRUST_THIS = "Trust";
export const trustThis = (item: string) => `Trust: ${item}`;
export const REVIEW_TRUST = "Review and trust";
export const APPROVE = "Approve";
export const approveFile = (file: string) => `Approve: ${file}`;
export const TRUST_GIVEN = "Trusted until it changes.";
export const CHANGED_SINCE = "It changed since this page listed it. Look at it again.";
export const TRUST_REVOKED = "Nothing in this folder is trusted any longer.";
export const ANSWERS_FORGOTTEN = "The permanent answers were deleted.";
