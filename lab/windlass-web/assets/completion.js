// What can stand at a place of a scenario, by the JSON Schema that `windlass schema` prints.
const completion = (() => {
  "use strict";

  // A schema and all that it refers to or is made of.
  function* parts(schema, root) {
    if (!schema || typeof schema !== "object") return;
    yield schema;
    if (schema.$ref) yield* parts(schema.$ref.slice(2).split("/").reduce((node, key) => node?.[key], root), root);
    for (const key of ["allOf", "anyOf", "oneOf"]) for (const part of schema[key] ?? []) yield* parts(part, root);
  }

  function member(schemas, key, root) {
    const found = [];
    for (const schema of schemas) {
      for (const part of parts(schema, root)) {
        const inner = key === "[]" ? part.items : part.properties?.[key];
        if (inner) found.push(inner);
        // A table of an array is called without its place: `[flow.multipath]`.
        else if (part.items && key !== "[]") found.push(...member([part.items], key, root));
      }
    }
    return found;
  }

  // The tables around a place in the text, the key whose value it is in, and what has been typed of a word.
  function context(text, at) {
    const before = text.slice(0, at);
    const lines = before.split("\n");
    const line = lines.at(-1);
    const path = [];
    const header = lines.slice(0, -1).findLast((l) => /^\s*\[/.test(l) && !/=/.test(l));
    const named = header && /^\s*(\[\[?)\s*([^\]]+?)\s*\]/.exec(header);
    if (named) {
      path.push(...named[2].split(".").map((key) => key.trim().replaceAll('"', "")));
      if (named[1] === "[[") path.push("[]");
    }
    if (/^\s*\[/.test(line) || /^\s*#/.test(line)) return null;
    // Inline tables of the line that are still open.
    const open = [];
    let key = null;
    for (const token of line.matchAll(/"[^"]*"?|[A-Za-z_][\w-]*|[{}[\],=]/g)) {
      const [word] = token;
      if (word === "=") key = open.pending;
      else if (word === "{") { open.push(key ?? "[]"); key = null; }
      else if (word === "[") { if (key) { open.push(key); key = null; } }
      else if (word === "}" || word === "]") { open.pop(); key = null; }
      else if (word === ",") key = null;
      else open.pending = word;
    }
    const typed = /"?[\w.-]*$/.exec(line)[0];
    return { path: [...path, ...open], key, typed: typed.replace(/^"/, ""), quoted: typed.startsWith('"'), start: at - typed.length };
  }

  // The candidates at a place: what is put there, and what it means.
  function at(root, text, place) {
    const here = context(text, place);
    if (!here) return null;
    let schemas = [root];
    for (const key of here.path) schemas = member(schemas, key, root);
    const found = new Map();
    if (here.key) {
      for (const schema of member(schemas, here.key, root)) {
        for (const part of parts(schema, root)) {
          const words = part.enum ?? (part.const !== undefined ? [part.const] : part.type === "boolean" ? [true, false] : []);
          for (const word of words) found.set(typeof word === "string" ? JSON.stringify(word) : String(word), "");
        }
      }
    } else {
      for (const schema of schemas) {
        for (const part of parts(schema, root)) {
          for (const [name, inner] of Object.entries(part.properties ?? {})) found.set(`${name} = `, inner.description ?? "");
        }
      }
    }
    const candidates = [...found].map(([insert, means]) => ({ insert, means, word: insert.replace(/^"|"$| = $/g, "") }));
    const matching = candidates.filter(({ word }) => word.startsWith(here.typed) && word !== here.typed);
    return { start: here.start, candidates: matching.sort((a, b) => (a.word < b.word ? -1 : 1)) };
  }

  return { at };
})();
