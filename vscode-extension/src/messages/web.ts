/** Texts for people on the web page around the panel: sign-in, folders, connection. */

export const PRODUCT = "Hermes";
export const CLIENT_TITLE = "Hermes web page";
export const titleOf = (session: string) => `${session} - ${PRODUCT}`;
export const titleWithQuestions = (title: string, questions: number) =>
  questions > 0 ? `(${questions}) ${title}` : title;

export const CONNECTION_LOST = "The connection was lost.";
export const OFFLINE = "Not connected. The page reconnects by itself.";
export const MESSAGE_TOO_LARGE = "A message can have at most 32 MB. Attach fewer or smaller pictures.";

export const ENTER_TOKEN = "Enter the token";
export const TOKEN_WHERE = "`hermes-acp serve` shows the token, and an address that contains it, when it starts.";
export const TOKEN_REFUSED = "The server does not accept this token.";
export const TOKEN = "Token";
export const SIGN_IN = "Sign in";
export const SIGN_IN_WITH_PROVIDER = "Sign in with your account";
export const OR_TOKEN = "Or enter a personal token, which the administrator of this server creates.";
export const SIGN_OUT = "Sign out";
export const NOT_SIGNED_OUT = "You are still signed in: the server could not be reached. Try again.";
export const CONNECT = "Connect";

export const NEW_SESSION_IN = "New session in a folder";
export const NEW_SESSION = "New session";
export const FOLDER = "Folder on the server";
export const FOLDER_EXAMPLE = "/home/you/project";
export const FOLDER_NOT_ABSOLUTE = "Enter the whole path, beginning with a slash.";
export const KNOWN_FOLDERS = "Folders of earlier sessions";
export const START_SESSION = "Start";
export const CANCEL = "Cancel";
export const CLOSE = "Close";

export const tooLargeText = (file: string) =>
  `${file} is larger than 200 kB. Copy it to the server and name its path in the prompt.`;
export const COPY_PATH = "Copy path";
export const FILE_CUT = "Only the beginning of this file is shown.";
export const contentOf = (file: string) => `Content of ${file}`;
export const pathCopied = (path: string) => `Path copied: ${path}`;
export const SET_UP_THERE = "Run `hermes-acp setup` on the server's machine. Then send the message again.";
export const LOG_THERE = "The log is on the server's machine, in the folder logs of its home (~/.hermes).";
export const LOADING = "Loading the session";
export const NOT_HERE = "This works only in an editor.";
