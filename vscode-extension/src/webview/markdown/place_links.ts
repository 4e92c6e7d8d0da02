/** Recognise text that may name a file, with a line. */

const SCHEME = /^[a-z][a-z0-9+.-]*:/i;
const LINES = String.raw`(?::\d+(?:[:,-]\d+)?|#L\d+(?:-L?\d+)?)`;
const NAME = String.raw`[\w@~+()[\]. -]*[\w)\]]`;
const WITH_LINE = new RegExp(`^[^\\s:?#*]+${LINES}$`);
const IN_CODE = new RegExp(`^(?:\\.{0,2}/)?(?:${NAME}/)*${NAME}\\.[A-Za-z]\\w{0,9}${LINES}?$`);
const MAX_LENGTH = 300;

/** Return whether a link's target may be a file: a path, optionally with a line, or a file URL. */
export function isPlace(target: string): boolean {
  if (target.length > MAX_LENGTH || target.startsWith("#") || target.startsWith("//")) return false;
  return /^file:\/\/\//i.test(target) || !SCHEME.test(target) || WITH_LINE.test(target);
}

/** Return whether inline code may be a file: a name with an extension, or a path with a line. */
export function isPlaceInCode(text: string): boolean {
  return text.length <= MAX_LENGTH && !SCHEME.test(text.replace(new RegExp(`${LINES}$`), "")) && IN_CODE.test(text);
}
