// Return what could run, load or send something: elements and attributes, in shadow roots too.
() => {
  const TAGS = ["SCRIPT", "IFRAME", "FORM", "IMG", "STYLE", "OBJECT", "EMBED", "BASE", "META", "LINK"];
  const within = (root) =>
    [...root.querySelectorAll("*")].flatMap((each) => [each, ...(each.shadowRoot ? within(each.shadowRoot) : [])]);
  const isDangerous = ({ name, value }) => /^on/i.test(name) || (/^\s*javascript:/i.test(value) && name !== "title");
  const isOurs = (each) => each.matches("body > script[src^='/page-']");
  return within(document.body)
    .filter((each) => !isOurs(each))
    .filter((each) => TAGS.includes(each.tagName.toUpperCase()) || [...each.attributes].some(isDangerous))
    .map((each) => each.outerHTML.slice(0, 200));
};
