/** Redact a protocol frame for a log. */

const SECRET_NAME = /(api[-_]?key|token|secret|password|passwd|authorization|cookie|credential)/i;
const SECRET_SHAPES = [
  /\b(sk|pk|rk|ghp|gho|ghs|github_pat|glpat|xox[abpr]|hf|AIza|AKIA)[-_A-Za-z0-9]{12,}/g,
  /\bBearer\s+[-._~+/A-Za-z0-9]{8,}=*/gi,
  /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(-----END [A-Z ]*PRIVATE KEY-----|$)/g,
  /\beyJ[-_A-Za-z0-9]{8,}\.[-_A-Za-z0-9]{8,}\.[-_A-Za-z0-9]*/g,
];
const HIDDEN = "[hidden]";
const MAX_TEXT = 400;

export function redact(value: unknown, name = ""): unknown {
  if (typeof value === "string") return SECRET_NAME.test(name) ? HIDDEN : redactText(value);
  if (Array.isArray(value)) return value.map((each) => redact(each));
  if (value === null || typeof value !== "object") return value;
  const named = value as Record<string, unknown>;
  const isVariable = typeof named["name"] === "string" && typeof named["value"] === "string";
  return Object.fromEntries(
    Object.entries(named).map(([key, each]) => {
      if (isVariable && key === "value") return [key, HIDDEN];
      return [key, key === "data" && typeof each === "string" ? sizeOf(each) : redact(each, key)];
    }),
  );
}

function redactText(text: string): string {
  const clean = SECRET_SHAPES.reduce((left, shape) => left.replace(shape, HIDDEN), text);
  return clean.length <= MAX_TEXT ? clean : `${clean.slice(0, MAX_TEXT)}… (${clean.length} characters)`;
}

const sizeOf = (text: string): string => `[${text.length} characters]`;
