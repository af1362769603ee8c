/**
 * Writes replies by their schema: only declared members are written, null stays null, and fields above the plan are left out. Writers are compiled on first
 * use, so that hundreds of endpoints do not slow down the start. Large replies are written in pieces, and other requests run in between.
 */
import type { TSchema } from 'typebox';
import { nextTurn } from '../foundation/loop_turns.ts';
import { objectBuilder } from '../foundation/object_builder.ts';
import type { Values } from './form.ts';
import { type Plan, reaches } from './plans.ts';
import { type Marked, marks } from './types.ts';

/** Counts the characters of a reply while its members are picked. */
interface Load {
  chars: number;
}

type Pick = (value: unknown, plan: Plan, load: Load) => unknown;

/** Replies of more characters are written in pieces. */
const atOnce_chars = 1024 * 1024;
/** A multiple of three, so that pieces of Base64 need no padding in between. */
const piece_chars = 3 * 64 * 1024;

interface Json extends Marked {
  type?: string;
  properties?: Record<string, Json>;
  items?: Json;
  anyOf?: Json[];
}

const asIs: Pick = (value) => value;

/** Bytes that are too long for one piece stay unchanged for `piecesOf`. */
const asBase64: Pick = (value, _plan, load) => {
  const bytes = value as Buffer;
  load.chars += bytes.length;
  return bytes.length > piece_chars ? bytes : bytes.toString('base64');
};

const texts: Pick = (value, _plan, load) => {
  if (Array.isArray(value)) for (const item of value) load.chars += (item as string).length;
  return value;
};

function objectPicker(properties: Record<string, Json>): Pick {
  const members = Object.entries(properties).map(([name, schema]) => ({
    name,
    pick: pickerOf(schema),
    needs: schema[marks]?.plan,
  }));
  // Undefined members are not written.
  const build = objectBuilder(Object.keys(properties));
  return (value, plan, load) => {
    if (typeof value !== 'object' || value === null) return value;
    return build(
      members.map(({ name, pick, needs }) => {
        const member = (value as Values)[name];
        if (member === undefined || !reaches(plan, needs)) return undefined;
        if (typeof member === 'string') load.chars += member.length;
        return pick === asIs ? member : pick(member, plan, load);
      }),
    );
  };
}

function pickerOf(schema: Json): Pick {
  if (schema[marks]?.base64) return asBase64;
  if (schema.anyOf) {
    const shaped = schema.anyOf.filter((member) => member.type === 'object' || member.type === 'array');
    return shaped.length === 1 ? pickerOf(shaped[0]!) : asIs;
  }
  if (schema.type === 'object' && schema.properties) return objectPicker(schema.properties);
  if (schema.type === 'array' && schema.items) {
    const pick = pickerOf(schema.items);
    if (schema.items.type === 'string') return texts;
    if (pick === asIs) return asIs;
    return (value, plan, load) => (Array.isArray(value) ? value.map((item) => pick(item, plan, load)) : value);
  }
  return asIs;
}

/** The approximate length of the text of a value; at least `most` where it is longer than that, and for bytes. */
function lengthOf(value: unknown, most: number): number {
  if (typeof value === 'string') return value.length + 2;
  if (Buffer.isBuffer(value)) return most;
  if (typeof value !== 'object' || value === null) return 8;
  let length = 2;
  const members = Array.isArray(value) ? value : Object.values(value);
  for (let at = 0; at < members.length && length < most; at++) length += 8 + lengthOf(members[at], most - length);
  return length;
}

/** Groups the items of a list that are written at once: one piece per item would cost more than its text. */
function* groupsOf(items: readonly unknown[]): Generator<unknown[]> {
  let some: unknown[] = [];
  let length = 0;
  for (const item of items) {
    const more = lengthOf(item, piece_chars);
    if (some.length > 0 && length + more > piece_chars) {
      yield some;
      [some, length] = [[], 0];
    }
    some.push(item);
    length += more;
  }
  if (some.length > 0) yield some;
}

/** The JSON text of a value, in pieces of limited length. */
function* piecesOf(value: unknown): Generator<string> {
  if (typeof value === 'string' && value.length > piece_chars) {
    yield '"';
    // A lone half of a surrogate pair is escaped; clients decode both halves to the same character again.
    for (let at = 0; at < value.length; at += piece_chars)
      yield JSON.stringify(value.slice(at, at + piece_chars)).slice(1, -1);
    yield '"';
  } else if (Buffer.isBuffer(value)) {
    yield '"';
    for (let at = 0; at < value.length; at += piece_chars) yield value.toString('base64', at, at + piece_chars);
    yield '"';
  } else if (lengthOf(value, piece_chars) < piece_chars) yield JSON.stringify(value) ?? 'null';
  else if (Array.isArray(value)) {
    yield '[';
    let separator = '';
    for (const some of groupsOf(value)) {
      yield separator;
      separator = ',';
      if (some.length === 1) yield* piecesOf(some[0]);
      else yield JSON.stringify(some).slice(1, -1);
    }
    yield ']';
  } else if (typeof value === 'object' && value !== null && !('toJSON' in value)) {
    let separator = '{';
    for (const [name, member] of Object.entries(value)) {
      if (member === undefined) continue;
      yield `${separator}${JSON.stringify(name)}:`;
      yield* piecesOf(member);
      separator = ',';
    }
    yield separator === '{' ? '{}' : '}';
  } else yield JSON.stringify(value) ?? 'null';
}

/** The JSON text of a value as UTF-8, with a turn of the event loop after each piece. */
async function inPieces(value: unknown): Promise<Buffer[]> {
  const pieces: Buffer[] = [];
  let text = '';
  for (const piece of piecesOf(value)) {
    text += piece;
    if (text.length < piece_chars) continue;
    pieces.push(Buffer.from(text));
    text = '';
    await nextTurn();
  }
  return [...pieces, Buffer.from(text)];
}

/**
 * Compiles the part of `serialiser` that needs no plan.
 * @returns a function that keeps what a schema declares of a value, in the order of the declaration
 */
export function declaredPart(schema: TSchema): (value: unknown) => unknown {
  let pick: Pick | undefined;
  return (value) => {
    pick ??= pickerOf(schema as unknown as Json);
    return pick(value, 'ultimate', { chars: 0 });
  };
}

/**
 * Compiles the writer of a reply.
 * @returns a function from a value and the plan in force to JSON text, or to the pieces of a long one
 */
export function serialiser(schema: TSchema): (value: unknown, plan: Plan) => string | Promise<Buffer[]> {
  let pick: Pick | undefined;
  return (value, plan) => {
    pick ??= pickerOf(schema as unknown as Json);
    const load = { chars: 0 };
    const picked = pick(value, plan, load);
    return load.chars > atOnce_chars ? inPieces(picked) : JSON.stringify(picked);
  };
}
