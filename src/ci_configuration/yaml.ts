/**
 * Reads YAML 1.2 core with the merge key of 1.1 and the tag `!reference`. Values are made of the parser's events here, since a file of a few lines can stand for
 * millions of values: they are counted as aliases are met, and nothing of them is copied.
 */
import {
  boolCoreTag,
  EVENT_ID,
  type Event,
  floatCoreTag,
  getScalarValue,
  intCoreTag,
  NOT_RESOLVED,
  nullCoreTag,
  parseEvents,
  SCALAR_STYLE,
  type ScalarEvent,
  YAMLException,
} from 'js-yaml';
import { Invalid, isList, isMapping, maximumDepth, maximumNodes, Reference, tooBig, type Value } from './values.ts';

/** The size of one file, in bytes of UTF-8. */
const maximumFile_bytes = 2 * 1024 * 1024;
const absent = -1;

/** What plain scalars can be besides text. */
const tags = [nullCoreTag, boolCoreTag, intCoreTag, floatCoreTag];

export interface Document {
  value: Value;
  /** Keys of the root that are no texts, such as `10` without quotes. */
  odd_keys: ReadonlySet<string>;
}

export interface Documents {
  documents: Document[];
  /** Keys that are there twice in one mapping. */
  doubled: ReadonlySet<string>;
}

/** How much a value stands for: itself and all values in it, and how deeply they are nested. */
interface Weight {
  nodes: number;
  depth: number;
}
const light: Weight = { nodes: 1, depth: 0 };

interface Anchored {
  value: Value;
  weight: Weight;
}

/** A collection that is being read. */
interface Frame extends Weight {
  anchor: string | undefined;
  /** Of a mapping: the key whose value comes next. */
  key?: { text: string; isText: boolean; merges: boolean; at: number };
  list?: Value[];
  isReference?: boolean;
  mapping?: Map<string, Value>;
  /** Keys that the merge key brought, which a key of the mapping itself overrides. */
  overridable?: Set<string>;
}

/** Makes values of the events of a file. */
class Reader {
  readonly #source: string;
  readonly #frames: Frame[] = [];
  #anchors = new Map<string, Anchored>();
  #weights = new WeakMap<object, Weight>();
  #odd = new Set<string>();
  readonly documents: Document[] = [];
  readonly doubled = new Set<string>();

  constructor(source: string) {
    this.#source = source;
  }

  read(event: Event): void {
    if (event.type === EVENT_ID.DOCUMENT) this.#begin();
    else if (event.type === EVENT_ID.POP) this.#end();
    else if (event.type === EVENT_ID.ALIAS)
      this.#alias(this.#source.slice(event.anchorStart, event.anchorEnd), event.anchorStart);
    else if (event.type === EVENT_ID.SCALAR) this.#scalar(event);
    else this.#open(event, event.type === EVENT_ID.SEQUENCE);
  }

  #begin(): void {
    this.#anchors = new Map();
    this.#weights = new WeakMap();
    this.#odd = new Set();
    // The frame of a document is a list of at most one value.
    this.#frames.push({ anchor: undefined, list: [], ...light });
  }

  #open(event: Exclude<Event, ScalarEvent | { type: 1 | 5 | 6 }>, isList: boolean): void {
    const isReference = this.#tagged(event, isList);
    this.#frames.push({
      anchor: this.#anchorOf(event),
      ...(isList ? { list: [], isReference } : { mapping: new Map() }),
      ...light,
    });
    if (this.#frames.length - 1 > maximumDepth) throw new Invalid(tooBig);
  }

  #end(): void {
    const { list, mapping, anchor, nodes, depth, isReference } = this.#frames.pop()!;
    if (this.#frames.length === 0) {
      this.documents.push({ value: list![0] ?? null, odd_keys: this.#odd });
      return;
    }
    const value = isReference ? new Reference(list!) : (list ?? mapping!);
    const weight = { nodes, depth };
    this.#weights.set(value, weight);
    this.#remember(anchor, value, weight);
    this.#add(value, weight);
  }

  #alias(name: string, at: number): void {
    const found = this.#anchors.get(name);
    if (!found) throw new Invalid(`Unknown alias: ${name}`);
    const key = typeof found.value === 'string' ? found.value : undefined;
    this.#add(found.value, found.weight, { text: key, isText: true, merges: false, at });
  }

  #scalar(event: ScalarEvent): void {
    const text = getScalarValue(this.#source, event);
    // Escapes can write what neither a database nor a runner takes.
    if (text.includes('\0') || !text.isWellFormed())
      this.#fail('a text has characters that are not valid', event.valueStart);
    this.#tagged(event, false);
    const isPlain = event.style === SCALAR_STYLE.PLAIN;
    const value = isPlain ? plainValue(text) : text;
    this.#remember(this.#anchorOf(event), value, light);
    const merges = isPlain && text === '<<';
    this.#add(value, light, { text, isText: typeof value === 'string', merges, at: event.valueStart });
  }

  #anchorOf({ anchorStart, anchorEnd }: { anchorStart: number; anchorEnd: number }): string | undefined {
    return anchorStart === absent ? undefined : this.#source.slice(anchorStart, anchorEnd);
  }

  #remember(anchor: string | undefined, value: Value, weight: Weight): void {
    if (anchor !== undefined) this.#anchors.set(anchor, { value, weight });
  }

  /** @returns whether the value is a reference */
  #tagged({ tagStart, tagEnd }: { tagStart: number; tagEnd: number }, isList: boolean): boolean {
    if (tagStart === absent) return false;
    const tag = this.#source.slice(tagStart, tagEnd);
    if (tag === '!') return false;
    if (tag === '!reference' && isList) return true;
    return this.#fail(
      tag === '!reference' ? `${tag} is not a list` : `Tried to load unspecified class: ${tag}`,
      tagStart,
    );
  }

  #fail(reason: string, at: number): never {
    const before = this.#source.slice(0, Math.max(at, 0)).split(/\r\n|\r|\n/);
    throw new Invalid(placed(reason, before.length, before.at(-1)!.length + 1));
  }

  #add(
    value: Value,
    weight: Weight,
    asKey?: { text: string | undefined; isText: boolean; merges: boolean; at: number },
  ): void {
    const frame = this.#frames.at(-1)!;
    if (frame.list) {
      frame.list.push(value);
      count(frame, weight);
    } else if (!frame.key) {
      const { text, ...key } = asKey ?? { text: undefined, isText: false, merges: false, at: absent };
      if (text === undefined) throw new Invalid('(<unknown>): a key of a mapping is not a text');
      frame.key = { text, ...key };
    } else {
      this.#addMember(frame, frame.key, value, weight);
      frame.key = undefined;
    }
  }

  #addMember(frame: Frame, key: NonNullable<Frame['key']>, value: Value, weight: Weight): void {
    const mapping = frame.mapping!;
    if (key.merges) {
      this.#merge(frame, value, key.at);
      return;
    }
    if (mapping.has(key.text) && !frame.overridable?.delete(key.text)) this.doubled.add(key.text);
    if (!key.isText && this.#frames.length === 2) this.#odd.add(key.text);
    mapping.set(key.text, value);
    count(frame, weight);
  }

  /** `<<`: what the mapping has itself wins, then the first of several sources. */
  #merge(frame: Frame, from: Value, at: number): void {
    for (const source of isList(from) ? from : [from]) {
      if (!isMapping(source)) this.#fail('the value of a merge key is not a mapping', at);
      for (const [key, value] of source) {
        // Keys that are there already cost time, too.
        count(frame, light);
        if (frame.mapping!.has(key)) continue;
        frame.mapping!.set(key, value);
        frame.overridable ??= new Set();
        frame.overridable.add(key);
        if (typeof value === 'object' && value !== null) count(frame, this.#weights.get(value)!);
      }
    }
  }
}

function count(frame: Frame, { nodes, depth }: Weight): void {
  frame.nodes += nodes;
  frame.depth = Math.max(frame.depth, depth + 1);
  if (frame.nodes > maximumNodes || frame.depth > maximumDepth) throw new Invalid(tooBig);
}

/** Numbers that would look otherwise as text, such as `1.0` of a version, or have more digits than a number keeps, stay the text that they are. */
const isExact = (value: Value, text: string): boolean =>
  typeof value !== 'number' || Number.isSafeInteger(value) ? !/^[-+]?\d+\.0+$/.test(text) : !Number.isInteger(value);

function plainValue(text: string): Value {
  for (const { implicitFirstChars, resolve, tagName } of tags) {
    if (implicitFirstChars && !implicitFirstChars.includes(text.charAt(0))) continue;
    const value = resolve(text, false, tagName);
    if (value !== NOT_RESOLVED) return isExact(value, text) ? value : text;
  }
  return text;
}

const placed = (reason: string, line: number, column: number) =>
  `(<unknown>): ${reason} at line ${line} column ${column}`;

function eventsOf(source: string): Event[] {
  try {
    // One level more than there may be, for the document's scalars; deeper ones are counted below.
    return parseEvents(source, { maxDepth: maximumDepth + 2 });
  } catch (error) {
    if (!(error instanceof YAMLException)) throw error;
    // The parser has no code for it.
    if (error.reason.startsWith('nesting exceeded')) throw new Invalid(tooBig);
    const { line = 0, column = 0 } = error.mark ?? {};
    throw new Invalid(placed(error.reason, line + 1, column + 1));
  }
}

/**
 * The documents of a file.
 * @throws Invalid with a text for people, also when there is too much of it
 */
export function readYaml(source: string): Documents {
  if (Buffer.byteLength(source) > maximumFile_bytes) throw new Invalid(tooBig);
  const reader = new Reader(source);
  for (const event of eventsOf(source)) reader.read(event);
  return { documents: reader.documents, doubled: reader.doubled };
}
