/** Divides a large JSON value into portions of a few milliseconds each, so that other requests are served while the value is assembled again. */
import { type Container, isContainer, type Json } from './bounded_json.ts';

/** Members, elements or characters, and their position. A container comes before its content. */
export interface Portion {
  path: (string | number)[];
  members: Container | string;
}

/** The weight of a portion, which takes some milliseconds to parse. */
const maximum = 10_000;
const charsPerWeight = 32;

/** Stops as soon as the value is too heavy for a portion. */
function weightOf(value: Json): number {
  let weight = 0;
  const left = [value];
  while (left.length > 0 && weight <= maximum) {
    const next = left.pop()!;
    weight++;
    if (typeof next === 'string') weight += next.length / charsPerWeight;
    else if (isContainer(next)) for (const member of Object.values(next)) left.push(member);
    if (left.length > maximum) return left.length;
  }
  return weight;
}

const emptied = (value: Json): Container | string => (typeof value === 'string' ? '' : Array.isArray(value) ? [] : {});

function put(container: Container, name: string, value: Json): void {
  if (Array.isArray(container)) container.push(value);
  else container[name] = value;
}

function* charactersOf(text: string, path: (string | number)[]): Generator<Portion> {
  const length = maximum * charsPerWeight;
  for (let at = 0; at < text.length; at += length) yield { path, members: text.slice(at, at + length) };
}

/** The portions of a container. Adding them one after another to an empty container yields an equal one. */
export function* portionsOf(container: Container, path: (string | number)[] = []): Generator<Portion> {
  let members = emptied(container) as Container;
  let weight = 0;
  const flush = function* (): Generator<Portion> {
    yield { path, members };
    members = emptied(container) as Container;
    weight = 0;
  };
  for (const [name, value] of Object.entries(container)) {
    const added = weightOf(value) + name.length / charsPerWeight;
    if (weight > 0 && weight + added > maximum) yield* flush();
    weight += added;
    if (added <= maximum || !(isContainer(value) || typeof value === 'string')) put(members, name, value);
    else {
      put(members, name, emptied(value));
      yield* flush();
      const place = [...path, Array.isArray(container) ? Number(name) : name];
      yield* isContainer(value) ? portionsOf(value, place) : charactersOf(value, place);
    }
  }
  yield* flush();
}

/** Adds a portion to a container that began empty. */
export function addPortion(whole: Container, { path, members }: Portion): void {
  const walk = (names: Portion['path']) =>
    names.reduce<Container>((container, name) => (container as Record<string | number, Container>)[name]!, whole);
  if (typeof members === 'string')
    (walk(path.slice(0, -1)) as Record<string | number, string>)[path.at(-1)!] += members;
  else {
    const target = walk(path);
    for (const [name, value] of Object.entries(members)) put(target, name, value);
  }
}
