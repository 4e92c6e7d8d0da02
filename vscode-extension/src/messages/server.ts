/** Texts for people about the server: how it is found, installed, started and lost. */

import { plural } from "./plural";

export const FROM_SETTING = "the setting hermes.server.command";
export const FROM_OWN_INSTALLATION = "the extension's own installation";

export const INSTALL_SERVER = "Install the server";
export const UPDATE_SERVER = "Update the server";
export const RESTART_SERVER = "Restart the server";
export const SHOW_LOG = "Show the log";
export const OPEN_SETTINGS = "Open the settings";
export const SET_UP_MODEL = "Set up a model";

export const NOT_INSTALLED = "The Hermes server is not installed on this machine.";
export const NO_PYTHON = "Python 3.11 or newer with the venv module was not found. Install it and try again.";
export const NO_PACKAGE =
  "This build of the extension contains no server. Name an installed one in hermes.server.command, or a wheel in hermes.server.package.";
export const CREATING_ENVIRONMENT = "Creating a virtual environment";
export const INSTALLING = "Installing the server and the packages it needs";
export const INSTALLING_SERVER = "Installing the server";
export const installFailed = (why: string) => `The server could not be installed. ${why}`;
export const NO_SPACE = "The disk is full.";
export const NO_PERMISSION = "A file could not be written: permission denied.";
export const CERTIFICATE_REFUSED = "The package index could not be reached: its certificate was not accepted.";
export const INDEX_UNREACHABLE =
  "The package index could not be reached. Check the network and the proxy, and try again.";
export const PACKAGE_UNREADABLE = "The server's package could not be read.";
export const PACKAGES_MISSING = "The package index has no suitable version of a package that the server needs.";
export const INSTALLER_FAILED = "The installer reported an error.";

export const STARTING = "Starting the server";
export const RESTARTING = "Restarting the server";
export const startingFrom = (command: string, source: string) => `Starting ${command} (from ${source})`;
export const startFailed = (path: string, why: string) => `${path} could not be started: ${why}`;
export const programMissing = (path: string) => `${path} does not exist.`;
export const configuredProgramMissing = (path: string) =>
  `${path} does not exist. Correct ${FROM_SETTING}, or leave it empty.`;
export const noAnswer = (seconds: number) => `The server did not answer within ${plural(seconds, "second")}.`;
export const tooOld = (path: string, version: string, oldest: string) =>
  `${path} is version ${version}; this extension needs ${oldest} or newer.`;
export const olderThanBundled = (path: string, version: string, bundled: string) =>
  `${path} is version ${version}; this extension contains version ${bundled}.`;
export const otherBuild = (version: string) =>
  `The installed server is a different build of version ${version} from the one in this extension.`;
export const otherProtocol = (theirs: unknown, ours: unknown) =>
  `The server uses protocol version ${theirs}, but this extension uses version ${ours}. Update both.`;

export const endedWithCode = (code: number | null, lastLine: string) =>
  withLastLine(`The server exited with code ${code}`, lastLine);
export const endedBySignal = (signal: string, lastLine: string) =>
  withLastLine(`The server was terminated by ${signal}`, lastLine);
export const failedRepeatedly = (why: string, times: number) =>
  `${why} It has failed ${plural(times, "time")} within a minute.`;
export const languageServerFailed = (why: string) => `Language server: ${why}`;

function withLastLine(what: string, lastLine: string): string {
  return lastLine ? `${what}: ${lastLine}` : `${what}.`;
}
