/** The base formats of lock files: text, JSON, YAML, TOML and XML. The input is untrusted. */
import { FAILSAFE_SCHEMA, loadAll } from 'js-yaml';
import { SaxesParser } from 'saxes';
import { parse as parseToml } from 'smol-toml';
import { type Collector, Unreadable } from './entries.ts';

/** No lock file is nested this deeply. */
const deepest = 500;
/** Package managers write no aliases. The target of an alias is expanded at each use. */
const maximumAliases = 100;

/**
 * The text of a file in UTF-8, or in UTF-16 with a byte order mark, as Visual Studio writes some.
 * @throws Unreadable when it is not text, or is a Git LFS pointer instead of the file
 */
export function textOf(bytes: Uint8Array): string {
  const utf16 = bytes[0] === 0xff && bytes[1] === 0xfe;
  let text: string;
  try {
    text = new TextDecoder(utf16 ? 'utf-16le' : 'utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new Unreadable('It is not text in UTF-8.');
  }
  if (text.includes('\0')) throw new Unreadable('It contains NUL characters.');
  if (text.startsWith('version https://git-lfs.github.com/spec/'))
    throw new Unreadable('It is a pointer of Git LFS, not the file itself.');
  if (/^<{7} /m.test(text)) throw new Unreadable('It contains unresolved merge conflicts.');
  return text;
}

/** Runs a third-party parser; its errors are reported as errors in the file. */
function reading<T>(format: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof Unreadable) throw error;
    if (error instanceof RangeError) throw new Unreadable('It is nested too deeply.');
    const [reason = ''] = (error as Error).message.split('\n');
    throw new Unreadable(`It is not valid ${format}: ${reason.slice(0, 200)}`);
  }
}

/** @throws Unreadable */
export const jsonOf = (bytes: Uint8Array): unknown => reading('JSON', () => JSON.parse(textOf(bytes)) as unknown);

/**
 * The documents of a YAML file. Every scalar is text, so that a version such as 1.10 stays what it is.
 * @throws Unreadable
 */
export const yamlOf = (bytes: Uint8Array): unknown[] =>
  reading('YAML', () =>
    loadAll(textOf(bytes), { schema: FAILSAFE_SCHEMA, maxDepth: deepest, maxAliases: maximumAliases }),
  );

/**
 * The document of a YAML file that has one, as `yamlOf` reads it.
 * @throws Unreadable
 */
export function yamlDocumentOf(bytes: Uint8Array): unknown {
  const [document, ...more] = yamlOf(bytes).filter((each) => each !== null && each !== '');
  if (more.length > 0) throw new Unreadable('It consists of several documents.');
  return document;
}

/** @throws Unreadable */
export const tomlOf = (bytes: Uint8Array): unknown =>
  reading('TOML', () => parseToml(textOf(bytes), { maxDepth: deepest }));

/**
 * The content of a lock file in TOML.
 * @throws Unreadable also when it is empty
 */
export function tomlLockOf(bytes: Uint8Array): Record<string, unknown> {
  const lock = objectIn(tomlOf(bytes));
  if (Object.keys(lock).length === 0) throw new Unreadable('It is empty.');
  return lock;
}

/** An element of XML: its name without a prefix, attributes, children, and the text directly in it. */
export interface Element {
  name: string;
  attributes: Record<string, string>;
  children: Element[];
  text: string;
}

/**
 * The document of an XML file. Entities that a document declares are errors, so they cannot be expanded.
 * @throws Unreadable
 */
export function xmlOf(bytes: Uint8Array): Element {
  const top: Element = { name: '', attributes: {}, children: [], text: '' };
  const open = [top];
  const parser = new SaxesParser();
  const add = (text: string) => {
    open.at(-1)!.text += text;
  };
  parser.on('opentag', ({ name, attributes }) => {
    const element: Element = { name: name.slice(name.indexOf(':') + 1), attributes, children: [], text: '' };
    open.at(-1)!.children.push(element);
    open.push(element);
    if (open.length > deepest) throw new Unreadable('It is nested too deeply.');
  });
  parser.on('closetag', () => void open.pop());
  parser.on('text', add);
  parser.on('cdata', add);
  parser.on('error', (error) => {
    throw error;
  });
  reading('XML', () => parser.write(textOf(bytes)).close());
  return top.children[0] ?? top;
}

/** The children of an element with a name. */
export const childrenOf = (element: Element | undefined, name: string): Element[] =>
  element?.children.filter((child) => child.name === name) ?? [];

/** The first child of an element with a name. */
export const childOf = (element: Element | undefined, name: string): Element | undefined =>
  childrenOf(element, name)[0];

/** The text of the first child with a name, without blanks around it. */
export const childText = (element: Element | undefined, name: string): string =>
  childOf(element, name)?.text.trim() ?? '';

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** An own member of an object; undefined when the value is not an object or lacks it. */
export const memberOf = (value: unknown, name: string): unknown =>
  isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;

/** The members of an object; empty for other values. */
export const membersOf = (value: unknown): [string, unknown][] => (isObject(value) ? Object.entries(value) : []);

/** The members of an object that lists packages, which may be missing or null; anything else is not understood. */
export function listedIn(found: Collector, name: string, value: unknown): [string, unknown][] {
  if (value !== undefined && value !== null && !isObject(value)) found.unknown(name);
  return membersOf(value);
}

/** The items of an array that lists packages, which may be missing or null; anything else is not understood. */
export function itemsListedIn(found: Collector, name: string, value: unknown): unknown[] {
  if (value !== undefined && value !== null && !Array.isArray(value)) found.unknown(name);
  return itemsOf(value);
}

/** The items of an array; empty for other values. */
export const itemsOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

/** A text member; empty if it is missing or not a text. */
export function textAt(value: unknown, name: string): string {
  const member = memberOf(value, name);
  return typeof member === 'string' ? member : '';
}

/**
 * A member that must be an object.
 * @throws Unreadable
 */
export function objectAt(value: unknown, name: string): Record<string, unknown> {
  const member = memberOf(value, name);
  if (!isObject(member)) throw new Unreadable(`It has no object \`${name}\`.`);
  return member;
}

/**
 * A member that must be an array, or may be missing or null.
 * @throws Unreadable
 */
export function arrayAt(value: unknown, name: string): unknown[] {
  const member = memberOf(value, name);
  if (member === undefined || member === null) return [];
  if (!Array.isArray(member)) throw new Unreadable(`Its \`${name}\` is not a list.`);
  return member;
}

/** @throws Unreadable when the file is no array */
export function listIn(value: unknown): unknown[] {
  if (!Array.isArray(value)) throw new Unreadable('It is not a list.');
  return value;
}

/** @throws Unreadable when the file is no object */
export function objectIn(value: unknown): Record<string, unknown> {
  if (!isObject(value)) throw new Unreadable('It is not an object.');
  return value;
}
