/** What two servers list of a project or group and its copy, pair by pair: every endpoint that lists something, with the records that its path names. */
import { endpoints } from '../../src/areas/index.ts';
import { type Client, pagesFrom } from './client.ts';

/** A place on the two servers: the clients, and the id there of the project or group. */
export interface Side {
  client: Client;
  id: number;
}

/** An address of a list on either server. */
export interface Pair {
  operation: string;
  /** As it is declared. */
  path: string;
  paths: [string, string];
}

type Item = Record<string, unknown>;

/** Whether an endpoint lists something. */
const isList = ({ method, returns }: (typeof endpoints)[number]) =>
  method === 'GET' && (returns.schema as { type?: string } | undefined)?.type === 'array';

/** The lists of a kind of place, by their declared paths. */
const listsOf = (kind: 'projects' | 'groups') =>
  new Map(
    endpoints.filter((each) => isList(each) && each.path.startsWith(`/${kind}/:id/`)).map((each) => [each.path, each]),
  );

/** The operations that list something of a project or group. */
export const listOperations = (): string[] =>
  (['groups', 'projects'] as const).flatMap((kind) => [...listsOf(kind).values()].map(({ operation }) => operation));

/** The member of a listed record that the parameter of a path means. */
const memberOf = (parameter: string): string =>
  parameter.endsWith('_iid') ? 'iid' : parameter.endsWith('_name') ? parameter : 'id';

/** Of a list, so many records are followed. */
const followed = 4;

export class ComparedLists {
  readonly #sides: readonly [Side, Side];
  readonly #lists: ReturnType<typeof listsOf>;
  readonly #comparable: (item: unknown) => unknown;
  /** Bodies by side and path. */
  readonly #bodies = new Map<string, Promise<{ status: number; items: Item[] }>>();

  /** @param comparable a record without what differs from server to server by its nature; undefined for one that does not count */
  constructor(kind: 'projects' | 'groups', sides: readonly [Side, Side], comparable: (item: unknown) => unknown) {
    this.#sides = sides;
    this.#lists = listsOf(kind);
    this.#comparable = comparable;
  }

  /** Everything that a side lists at a path, in an order that does not depend on ids. */
  read(at: 0 | 1, path: string): Promise<{ status: number; items: Item[] }> {
    const key = `${at} ${path}`;
    const known = this.#bodies.get(key) ?? this.#readAll(at, path);
    this.#bodies.set(key, known);
    return known;
  }

  async #readAll(at: 0 | 1, path: string): Promise<{ status: number; items: Item[] }> {
    const items: Item[] = [];
    const { client } = this.#sides[at];
    for await (const { status, body } of pagesFrom(client, `${path}${path.includes('?') ? '&' : '?'}per_page=100`)) {
      if (status !== 200) return { status, items: [{ message: body?.message ?? body }] };
      items.push(...body);
    }
    const keyed = items.flatMap((item) => {
      const compared = this.#comparable(item);
      return compared === undefined ? [] : [[JSON.stringify(compared), item] as const];
    });
    return { status: 200, items: keyed.toSorted(([one], [other]) => (one < other ? -1 : 1)).map(([, item]) => item) };
  }

  /** The addresses of every list, with those of the records that both servers list for each parameter. */
  async *pairs(): AsyncGenerator<Pair> {
    for (const [path, { operation }] of this.#lists)
      for await (const paths of this.#filled(path)) yield { operation, path, paths };
  }

  async *#filled(path: string): AsyncGenerator<[string, string]> {
    let found: [string, string][] = [['', '']];
    let declared = '';
    for (const segment of path.split('/').slice(1)) {
      const before = declared;
      declared = `${declared}/${segment}`;
      if (!segment.startsWith(':')) found = found.map(([one, other]) => [`${one}/${segment}`, `${other}/${segment}`]);
      else if (segment === ':id')
        found = [[`/${before.slice(1)}/${this.#sides[0].id}`, `/${before.slice(1)}/${this.#sides[1].id}`]];
      else found = await this.#valuesFor(segment.slice(1), before, found);
    }
    yield* found;
  }

  /** Continues addresses with a record of the list that they are. */
  async #valuesFor(parameter: string, list: string, places: [string, string][]): Promise<[string, string][]> {
    if (!this.#lists.has(list)) return [];
    const all: [string, string][] = [];
    for (const [one, other] of places) {
      const [left, right] = await Promise.all([this.read(0, one), this.read(1, other)]);
      if (left.status !== 200 || right.status !== 200) continue;
      const member = memberOf(parameter);
      for (const [index, item] of left.items.slice(0, followed).entries()) {
        const copy = right.items[index];
        if (item[member] === undefined || copy?.[member] === undefined) continue;
        all.push([
          `${one}/${encodeURIComponent(String(item[member]))}`,
          `${other}/${encodeURIComponent(String(copy[member]))}`,
        ]);
      }
    }
    return all;
  }
}
