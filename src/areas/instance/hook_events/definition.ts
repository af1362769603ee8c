/**
 * The kinds of events that webhooks are told of: a snapshot of rows, which the transaction of the change writes, and a
 * presenter, with which the body is made of it later
 * (docs/decisions/0140-bodies-of-webhooks-are-presented-later.md).
 */
import { type RawBuilder, sql } from 'kysely';
import type { Static, TSchema } from 'typebox';
import { type Built, type DB, objectInJson, type Parts } from '../../../db/index.ts';
import { declaredPart } from '../../../http/index.ts';
import type { Filling, HookEventKind, Told } from '../../../services/index.ts';
import type { Trigger } from './rules.ts';

/** The columns of a row, as expressions. */
export type Refs<Row> = { readonly [Column in keyof Row]: RawBuilder<Row[Column]> };

/** What a change needs of a kind of event. */
export interface Telling<Row, P extends Parts = Parts> {
  name: string;
  /** The triggers of hooks that receive it. */
  triggers: readonly Trigger[];
  /**
   * The parts of a snapshot, as expressions on a row that is called `news`. They are evaluated only if a hook subscribes.
   * Secrets have no place in it.
   */
  snapshot(news: Refs<Row>): P;
}

/**
 * The rows of news.
 * @param columns expressions on the rows of `from`
 * @param from what follows the columns of the select, e.g. `from keys where …`
 */
export const newsOf = <P extends Parts>(columns: P, from: RawBuilder<unknown>): RawBuilder<Built<P>> =>
  sql`select ${sql.join(Object.entries(columns).map(([name, column]) => sql`${column} as ${sql.ref(name)}`))} ${from}`;

/** The columns by which the hooks of a project and of the groups above it are found. */
export const inProject = {
  project_id: sql<number>`projects.id`,
  group_ids: sql<number[]>`namespaces.traversal_ids`,
};

/** The same for news that only system hooks receive. */
export const toSystem = { project_id: sql<number | null>`null::bigint`, group_ids: sql<number[]>`'{}'::bigint[]` };

/**
 * News about rows of a table of things in projects.
 * @param columns expressions on its rows, besides `id`
 * @param which a predicate on its rows, and what may follow it
 */
export const newsInProjects = <P extends Parts>(table: keyof DB & string, columns: P, which: RawBuilder<unknown>) =>
  newsOf(
    { ...inProject, id: sql.ref<number>(`${table}.id`), ...columns },
    sql`
      from ${sql.table(table)} join projects on projects.id = ${sql.ref(`${table}.project_id`)}
      join namespaces on namespaces.id = projects.namespace_id where ${which}`,
  );

/** What a snapshot is when it is read. */
export type Snapped<T> = T extends { snapshot(news: never): infer P extends Parts } ? Built<P> : never;

/** How a kind of event is documented, and what its body is. */
interface Described<B extends TSchema> extends Omit<HookEventKind, 'write'> {
  triggers: readonly Trigger[];
  body: B;
}

/** Makes a body. Members that its schema does not declare are left out, and the others have the order of the schema. */
type Presenter<Read, B extends TSchema> = (snapshot: Read, services: Filling & Told) => Static<B> | Promise<Static<B>>;

/** A kind of event whose snapshot is described elsewhere, since it depends on the noun. */
export function presentedEvent<Read, B extends TSchema>(
  event: Described<B>,
  present: Presenter<Read, B>,
): HookEventKind {
  const declared = declaredPart(event.body);
  return {
    ...event,
    write: async (services, snapshot, told) => declared(await present(snapshot as Read, { ...services, ...told })),
  };
}

/** A kind of event. What makes its body follows, so that the compiler knows the snapshot and the schema by then. */
export const hookEvent = <Row, P extends Parts, B extends TSchema>({
  snapshot,
  ...event
}: Telling<Row, P> & Described<B>) => ({
  presentedBy: (present: Presenter<Built<P>, B>): Telling<Row, P> & HookEventKind => ({
    ...presentedEvent(event, present),
    triggers: event.triggers,
    snapshot,
  }),
});

const columns = new Proxy({}, { get: (_, name) => sql.ref(`news.${String(name)}`) });

/** The snapshot of a row that is called `news`. */
export const snapshotInJson = <Row>({ snapshot }: Telling<Row>): RawBuilder<unknown> =>
  objectInJson(snapshot(columns as Refs<Row>));
