/** `mentioned in …`: what an issue or epic notes when the text of another one names it (docs/reference/notes.md). */
import { sql } from 'kysely';
import { type Noteable, noteableColumns, noteableKinds, rowsWithPlaces } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import type { Caller } from '../../../http/index.ts';
import type { Reference } from '../../../markdown/index.ts';
import { type Named, pairsMeant, type Surroundings, thingsNamed } from '../markdown/index.ts';
import { referringTo } from './queries.ts';

/** Most things of each kind that one text tells of itself. */
const maximumTargets = 100;

interface CrossReferences {
  /** Who wrote the text: what he may not read he cannot mention. */
  actor: Caller;
  /** Where it stands. */
  source: Noteable;
  references: readonly Reference[];
}

/** Where a text stands. */
interface Place {
  iid: number;
  /** Of its project or group. */
  place_id: number;
  full_path: string;
  /** The group, or that of the project. */
  group_id: number;
  group_path: string;
}

async function placeOf(tx: Database, { kind, id }: Noteable): Promise<Place> {
  const { table, places } = kind;
  const group = places === 'projects' ? sql`projects.namespace_id` : sql`namespaces.id`;
  const { rows } = await sql<Place>`
    select ${sql.ref(`${table}.iid`)}, ${sql.ref(`${places}.id`)} as place_id, ${sql.ref(`${places}.full_path`)}::text as full_path,
           groups.id as group_id, groups.full_path::text as group_path
      from ${rowsWithPlaces(kind)} join namespaces groups on groups.id = ${group}
     where ${sql.ref(`${table}.id`)} = ${id}`.execute(tx);
  return rows[0]!;
}

const surroundingsOf = ({ kind }: Noteable, { full_path, group_path }: Place): Surroundings => ({
  project_path: kind.places === 'projects' ? full_path : undefined,
  group_path,
});

/** What the source is called on the page of the target: by its number alone where both belong together. */
function nameFor(target: Named, { kind }: Noteable, place: Place): string {
  const isNear =
    kind.places === 'projects'
      ? target.kind.places === 'projects' && target.place_id === place.place_id
      : target.group_id === place.group_id;
  return `${kind.name} ${isNear ? '' : place.full_path}${kind.sign}${place.iid}`;
}

/**
 * Notes on each issue and epic that a text names, and its author may read, that it was mentioned there; where that stands already nothing is added. Always in the
 * order of their ids, so that two texts which name the same do not wait for each other.
 */
export async function noteCrossReferences(tx: Database, { actor, source, references }: CrossReferences): Promise<void> {
  const named = noteableKinds.filter(({ name }) => references.some(({ kind }) => kind === name));
  if (named.length === 0) return;
  const place = await placeOf(tx, source);
  const surroundings = surroundingsOf(source, place);
  const targets: Named[] = [];
  for (const kind of named)
    targets.push(...(await thingsNamed(tx, actor, kind, pairsMeant(kind, references, surroundings, maximumTargets))));
  const others = targets.filter(({ kind, id }) => kind !== source.kind || id !== source.id);
  if (others.length === 0) return;
  const notes = others.map((target) => ({
    ...noteableColumns(target),
    ...referringTo(source),
    body: `mentioned in ${nameFor(target, source, place)}`,
    author_id: actor.id,
    system: true,
    is_mention: true,
  }));
  await tx
    .insertInto('notes')
    .values(notes)
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}
