import MarkdownIt from "markdown-it";
import { describe, expect, it } from "vitest";

import { blocksOf, growBlocks } from "../../src/webview/markdown/blocks";
import { markTasks, parser } from "../../src/webview/markdown/parser";
import { isPlace, isPlaceInCode } from "../../src/webview/markdown/place_links";
import { commandsIn } from "../../src/editor/commands_in";
import { readPlace } from "../../src/panel/place";

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

describe("links", () => {
  it("lead to pages and to files with their lines, and nowhere else", () => {
    const html = (text: string) => parser.renderInline(text);
    expect(html("[x](shop/tax.py:6)")).toBe('<a data-place="shop/tax.py:6">x</a>');
    expect(html("[x](shop/a%20b.py#L3-L5)")).toBe('<a data-place="shop/a b.py#L3-L5">x</a>');
    expect(html("`shop/cart.py:16`")).toBe('<code data-place="shop/cart.py:16">shop/cart.py:16</code>');
    expect(html("[x](https://example.org)")).toBe('<a href="https://example.org">x</a>');
    for (const target of ["command:workbench.action.reload", "vscode://x/y", "javascript:alert(1)", "data:text/html,x"])
      expect(html(`[x](${target})`)).not.toContain("<a");
    expect(html('[x](a"onclick="b.py:1)')).not.toContain('"onclick');
  });

  it("are made of words in code that look like a file, not of others", () => {
    for (const text of ["cart.py", "a/b-c/d.test.ts:3:4", "../x.md", "shop/tax.py:6-9"])
      expect(isPlaceInCode(text)).toBe(true);
    for (const text of ["total(items)", "x = y.z", "http://a.b/c.py", "1.5", "a.b()", "command:x.y"])
      expect(isPlaceInCode(text)).toBe(false);
    expect(isPlace("command:a:1")).toBe(false);
    expect(isPlace("//host/share")).toBe(false);
  });

  it("name files in the folders that are open, and none outside", () => {
    const roots = ["/p", "/q"];
    expect(readPlace("shop/tax.py:6", roots)).toEqual([
      { path: "/p/shop/tax.py", line: 6 },
      { path: "/q/shop/tax.py", line: 6 },
    ]);
    expect(readPlace("/p/a.py#L7", roots)).toEqual([{ path: "/p/a.py", line: 7 }]);
    expect(readPlace("file:///p/a%20b.py", roots)).toEqual([{ path: "/p/a b.py" }]);
    expect(readPlace("file://host/p/a.py", roots)).toEqual([]);
    for (const text of ["../etc/passwd", "/etc/passwd", "a/../../pp/x", "a\0b"])
      expect(readPlace(text, ["/p"])).toEqual([]);
  });
});

describe("formulas", () => {
  const html = (text: string) => parser.render(text).trim();
  it("are found in a line and as blocks", () => {
    expect(html("so $x^2 < y$ and \\(z\\)")).toBe(
      '<p>so <span class="math" data-tex="x^2 &lt; y">$x^2 &lt; y$</span> and <span class="math" data-tex="z">$z$</span></p>',
    );
    expect(html("$$\nE = mc^2\n$$")).toBe('<div class="math math-block" data-tex="E = mc^2">$$E = mc^2$$</div>');
    expect(html("\\[ a \\]")).toContain('data-tex="a"');
  });

  it("are no prices, no variables of a shell, and no code", () => {
    for (const text of ["$5 and $10", "from $HOME to $PATH", "`$x$`", "a $ b $ c", "US$5 or CA$6"])
      expect(html(text)).not.toContain("math");
  });
});

describe("blocks of code", () => {
  it("are run without the output that they show", () => {
    expect(commandsIn("$ ls\na.py\n$ cat a.py\nrm -rf x\n")).toBe("ls\ncat a.py");
    expect(commandsIn("ls\ncat a.py\n")).toBe("ls\ncat a.py");
  });

  it("offer to run what is a shell's, and to apply what is not", () => {
    expect(parser.render("```bash\nls\n```")).toContain('data-action="run"');
    const python = parser.render("```python\nx = 1\n```");
    expect(python).toContain('data-action="apply"');
    expect(python).not.toContain('data-action="run"');
  });
});
