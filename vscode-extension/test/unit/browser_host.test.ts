import { expect, it } from "vitest";

import type { ToView } from "../../src/panel/protocol";
import { attachFile } from "../../src/web/browser_host";

async function attached(file: File): Promise<{ answers: ToView[]; said: string[] }> {
  const answers: ToView[] = [];
  const said: string[] = [];
  await attachFile(
    file,
    (message) => answers.push(message),
    (words) => said.push(words),
  );
  return { answers, said };
}

it("attaches a picture as one, and any other file as its text", async () => {
  const picture = await attached(new File(["abc"], "a.png", { type: "image/png" }));
  expect(picture).toEqual({
    answers: [{ type: "insertPicture", picture: { mimeType: "image/png", data: "YWJj" } }],
    said: [],
  });
  const text = await attached(new File(["x = 1"], "a.py"));
  expect(text.answers).toMatchObject([{ type: "insert", mention: { token: "a.py", text: "x = 1" } }]);
});

it("says which file is too large", async () => {
  const picture = await attached(new File([new Uint8Array(5_000_001)], "a.png", { type: "image/png" }));
  expect(picture).toEqual({ answers: [], said: ["a.png is larger than 5 MB. Attach a smaller picture."] });
  const text = await attached(new File([new Uint8Array(200_001)], "a.log"));
  expect(text.answers).toEqual([]);
  expect(text.said).toHaveLength(1);
});
