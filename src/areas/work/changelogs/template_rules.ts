/**
 * The language of templates: `{{ path }}`, `{% if path %}`, `{% each path %}`, `{% else %}` and `{% end %}` (docs/reference/changelogs.md#templates). It has no expressions, and
 * loops only over its input, so the number of rendering steps is bounded by the nodes and entries. Pure functions.
 */

export class InvalidTemplate extends Error {
  override name = 'InvalidTemplate';
}

export type Value = string | number | boolean | undefined | readonly Value[] | { readonly [name: string]: Value };

type Node =
  | { kind: 'text'; text: string }
  | { kind: 'value'; path: readonly string[] }
  | { kind: 'if' | 'each'; path: readonly string[]; inside: Node[]; otherwise: Node[] };

const maximumDepth = 20;
const maximumNodes = 5000;
/** Limit of the rendered text, in characters. */
const maximumOutput = 1_000_000;

/** Trailer keys contain hyphens and capitals: `commit.trailers.Co-authored-by`. */
const pathPattern = /^[a-z_][\w-]*(?:\.[a-z_][\w-]*)*$/i;

function pathIn(text: string): string[] {
  if (!pathPattern.test(text)) throw new InvalidTemplate(`invalid name: ${text.slice(0, 100)}`);
  return text.split('.');
}

/** A tag, with the line break after a statement; or a line break escaped by a backslash. */
const tagPattern = /\{\{([^{}]{0,240})\}\}|\{%([^{}%]{0,240})%\}(?:\r?\n)?|\\\r?\n/g;

interface Open {
  node: Node & { kind: 'if' | 'each' };
  isInElse: boolean;
}

/** Parses templates, one tag after the other. */
class Parser {
  readonly nodes: Node[] = [];
  readonly #open: Open[] = [];
  #count = 0;

  get #current(): Node[] {
    const last = this.#open.at(-1);
    if (!last) return this.nodes;
    return last.isInElse ? last.node.otherwise : last.node.inside;
  }

  #add(node: Node): void {
    if (++this.#count > maximumNodes) throw new InvalidTemplate('the template is too long');
    this.#current.push(node);
  }

  text(text: string): void {
    if (/\{[{%]/.test(text)) throw new InvalidTemplate('a tag has no end');
    if (text !== '') this.#add({ kind: 'text', text });
  }

  value(path: string): void {
    this.#add({ kind: 'value', path: pathIn(path) });
  }

  statement(statement: string): void {
    const [word, path = '', ...rest] = statement.split(/[ \t]+/);
    if (rest.length > 0) throw new InvalidTemplate(`invalid statement: ${statement.slice(0, 100)}`);
    if (word === 'if' || word === 'each') {
      const node: Open['node'] = { kind: word, path: pathIn(path), inside: [], otherwise: [] };
      if (this.#open.length >= maximumDepth) throw new InvalidTemplate('the template is nested too deeply');
      this.#add(node);
      this.#open.push({ node, isInElse: false });
    } else if (word === 'else' && path === '' && this.#open.at(-1)?.isInElse === false) {
      this.#open.at(-1)!.isInElse = true;
    } else if (word === 'end' && path === '' && this.#open.pop()) {
      // The block is closed.
    } else throw new InvalidTemplate(`unexpected statement: ${statement.slice(0, 100)}`);
  }

  end(): Node[] {
    if (this.#open.length > 0) throw new InvalidTemplate('a statement has no end');
    return this.nodes;
  }
}

function parse(template: string): Node[] {
  const parser = new Parser();
  let at = 0;
  for (const match of template.matchAll(tagPattern)) {
    parser.text(template.slice(at, match.index));
    const [all, value, statement] = match;
    if (value !== undefined) parser.value(value.trim());
    else if (statement !== undefined) parser.statement(statement.trim());
    at = match.index + all.length;
  }
  parser.text(template.slice(at));
  return parser.end();
}

function valueAt(path: readonly string[], scopes: readonly Value[]): Value {
  const [first, ...rest] = path;
  const inside = (value: Value, name: string): Value =>
    typeof value === 'object' && !Array.isArray(value) && Object.hasOwn(value, name)
      ? (value as { readonly [name: string]: Value })[name]
      : undefined;
  if (first === 'it') return rest.reduce(inside, scopes.at(-1));
  const scope = scopes.findLast((one) => inside(one, first!) !== undefined);
  return path.reduce(inside, scope);
}

const isTrue = (value: Value): boolean =>
  Array.isArray(value) ? value.length > 0 : value !== undefined && value !== false && value !== '';

function writeNodes(nodes: readonly Node[], scopes: readonly Value[], written: { text: string }): void {
  for (const node of nodes) {
    if (written.text.length > maximumOutput) throw new InvalidTemplate('the template writes too much');
    if (node.kind === 'text') written.text += node.text;
    else {
      const value = valueAt(node.path, scopes);
      if (node.kind === 'value') {
        written.text += typeof value === 'object' || value === undefined ? '' : String(value);
      } else if (node.kind === 'if') writeNodes(isTrue(value) ? node.inside : node.otherwise, scopes, written);
      else if (Array.isArray(value)) for (const item of value) writeNodes(node.inside, [...scopes, item], written);
    }
  }
}

/**
 * Renders a template.
 * @throws InvalidTemplate
 */
export function rendered(template: string, values: Value): string {
  const written = { text: '' };
  writeNodes(parse(template), [values], written);
  return written.text;
}
