import MarkdownIt from "markdown-it";
import { describe, expect, it } from "vitest";

import { blocksOf, growBlocks, markTasks } from "../../src/webview/render";

const TEXT = `
# Title

Some words, *and* more
of them.

- one
- two

  still two
- three

\`\`\`python
def f():

    return 1
\`\`\`

| a | b |
| - | - |
| 1 | 2 |

> said
so

last words`;

describe("blocks of a text", () => {
  it("are the text, in pieces", () => {
    expect(blocksOf(TEXT).join("\n")).toBe(TEXT);
  });

  it("are the same whether it came at once or grew", () => {
    let grown = { text: "", blocks: blocksOf("") };
    for (let length = 1; length <= TEXT.length; length += 1) {
      grown = growBlocks(grown, TEXT.slice(0, length));
      expect(grown.blocks).toEqual(blocksOf(TEXT.slice(0, length)));
    }
  });

  it("are made anew where the text is another", () => {
    const grown = growBlocks({ text: "", blocks: [] }, "one\n\ntwo\n\nthree\n\nfour");
    expect(growBlocks(grown, "two\n\nthree").blocks).toEqual(["two\n", "three"]);
  });
});

describe("tasks of a list", () => {
  it("are marked as done or not, and nothing else in brackets is", () => {
    const html = new MarkdownIt();
    html.use(markTasks);
    expect(html.render("- [ ] one\n- [x] two\n\n[x] three")).toBe(
      "<ul>\n<li>☐ one</li>\n<li>☑ two</li>\n</ul>\n<p>[x] three</p>\n",
    );
  });
});
