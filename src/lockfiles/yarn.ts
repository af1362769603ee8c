/** `yarn.lock` of Yarn 1, which has a syntax of its own, and of later versions, which is YAML. */
import { Collector, type Contents, Unreadable } from './entries.ts';
import { memberOf, membersOf, objectIn, textAt, textOf, yamlDocumentOf } from './formats.ts';

/** @throws Unreadable */
export function readYarn(bytes: Uint8Array): Contents {
  const text = textOf(bytes);
  return /^["']?__metadata["']?:/m.test(text) ? readBerry(bytes) : readClassic(text);
}

/** The name and range of `name@range`, the name of which can begin with `@`. */
function descriptor(text: string): { name: string; range: string } {
  const at = text.indexOf('@', 1);
  return at < 0 ? { name: text, range: '' } : { name: text.slice(0, at), range: text.slice(at + 1) };
}

/** The package that a descriptor of Yarn 1 requests, undefined for a folder of the project. The package at an address has any name that the project gives it. */
function asked(text: string): { name: string; is_address: boolean } | undefined {
  const { name, range } = descriptor(text);
  if (/^(?:link|file|portal|workspace):/.test(range)) return undefined;
  const aliased = range.startsWith('npm:') ? descriptor(range.slice('npm:'.length)) : undefined;
  if (aliased && aliased.range !== '') return { name: aliased.name, is_address: false };
  return { name, is_address: /^(?!npm:)[\w+.-]+:|^git@|\//.test(range) };
}

/** The requested names in the head of a block of Yarn 1; several belong to one package. */
function namesOf(head: string): string[] {
  const all = (head.match(/"[^"]*"|[^",\s]+/g) ?? []).flatMap((each) => asked(each.replaceAll('"', '')) ?? []);
  const certain = all.filter(({ is_address }) => !is_address);
  return [...new Set((certain.length > 0 ? certain : all).map(({ name }) => name))];
}

function readClassic(text: string): Contents {
  const found = new Collector('yarn');
  let name: string | undefined;
  let blocks = 0;
  /** The package whose version is still to come. */
  let open: string | undefined;
  for (const line of text.split(/\r?\n/)) {
    if (line === '' || line.startsWith('#')) continue;
    if (!line.startsWith(' ')) {
      if (!line.endsWith(':')) throw new Unreadable('It is not a lock file of Yarn.');
      if (open !== undefined) found.unknown(open);
      blocks += 1;
      const names = namesOf(line.slice(0, -1));
      name = names.length === 1 ? names[0] : undefined;
      open = name;
      if (names.length > 1) found.unknown(line.slice(0, -1));
      continue;
    }
    const version = /^ {2}(?:version|"version") "?([^"]*)"?$/.exec(line);
    if (!version || name === undefined) continue;
    found.add({ name, version: version[1]! });
    open = undefined;
  }
  if (open !== undefined) found.unknown(open);
  if (blocks === 0 && !text.includes('# yarn lockfile v1')) throw new Unreadable('It is not a lock file of Yarn.');
  return found.contents();
}

/** The maximum nesting of patches; no project has more than two. */
const maximumPatches = 10;

/**
 * The name and range of what a block resolves to. A patched package is the inner one, `name@patch:name@npm%3A1.0.0#…`, whatever name the project gives it.
 * @returns undefined when the inner descriptor cannot be parsed
 */
function resolved(text: string): { name: string; range: string } | undefined {
  let found = descriptor(text);
  for (let patches = 0; found.range.startsWith('patch:'); patches += 1) {
    const [inner = ''] = found.range.slice('patch:'.length).split('#', 1);
    if (patches === maximumPatches) return undefined;
    try {
      found = descriptor(decodeURIComponent(inner));
    } catch {
      return undefined;
    }
  }
  return found;
}

function readBerry(bytes: Uint8Array): Contents {
  const blocks = Object.entries(objectIn(yamlDocumentOf(bytes))).filter(([key]) => key !== '__metadata');
  const isWorkspace = (about: unknown) => textAt(about, 'resolution').includes('@workspace:');
  const named = new Set(
    blocks
      .filter(([, about]) => isWorkspace(about))
      .flatMap(([, about]) =>
        // Before Yarn 4, a range of npm is written without its protocol here.
        membersOf(memberOf(about, 'dependencies')).flatMap(([name, range]) => [
          `${name}@${String(range)}`,
          `${name}@npm:${String(range)}`,
        ]),
      ),
  );
  const found = new Collector('yarn');
  for (const [key, about] of blocks) {
    const { name, range } = resolved(textAt(about, 'resolution')) ?? { name: '', range: '' };
    if (/^(?:workspace|link|portal):/.test(range)) continue;
    const version = textAt(about, 'version');
    if (name === '' || range === '' || version === '') found.unknown(key);
    else found.add({ name, version, direct: key.split(', ').some((each) => named.has(each)) });
  }
  return found.contents();
}
