// Builds the server's wheel from the project around this folder into dist/, where the package takes it from, so that installing
// the server asks no index for a package of this project's name. PYTHON names the interpreter; it needs pip.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const HERE = dirname(fileURLToPath(import.meta.url));
const DIST = join(HERE, "dist");
const NAME = /^hermes_acp_server-(.+?)-.+\.whl$/;
const constraints = join(HERE, "wheel-constraints.txt");
const wheels = () => readdirSync(DIST).filter((name) => NAME.test(name));

mkdirSync(DIST, { recursive: true });
for (const old of wheels()) rmSync(join(DIST, old));
execFileSync(
  process.env.PYTHON || "python3",
  ["-m", "pip", "wheel", dirname(HERE), "--no-deps", "--quiet", "--disable-pip-version-check", "--wheel-dir", DIST],
  // Until pip 25.3, the constraints of a build were those of everything.
  { stdio: "inherit", env: { ...process.env, PIP_BUILD_CONSTRAINT: constraints, PIP_CONSTRAINT: constraints } },
);
const [file] = wheels();
const digest = createHash("sha256")
  .update(readFileSync(join(DIST, file)))
  .digest("hex");
writeFileSync(join(DIST, "server.json"), JSON.stringify({ file, version: NAME.exec(file)[1], digest }));
