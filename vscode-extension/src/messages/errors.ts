/** Texts for people about failed requests for which the server sends no sentence. */

export const SERVER_STOPPED = "The server has stopped.";
export const CANCELLED = "The request was cancelled.";
export const NOT_SUPPORTED = "This server does not support that. Update the server.";
export const VERSIONS_DIFFER = "The server and this extension seem to be of different versions. Update both.";
export const UNKNOWN_ERROR = "The server failed without saying why. Its log may have the details.";
export const serverBug = (trace: string) =>
  `The server failed because of a bug. Its log has the details${trace ? ` (${trace})` : ""}.`;

export const OPEN_FOLDER_FIRST = "Open a folder first. A session needs one to work in.";
export const noSuchFile = (path: string) => `${path} does not exist.`;
export const couldNotSave = (path: string) => `VS Code could not save ${path}.`;
