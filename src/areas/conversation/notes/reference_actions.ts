/** `mentioned in …`: the system note on an issuable that another one, or a comment on a commit, references (docs/reference/notes.md). */
import { sql } from 'kysely';
import { type Followed, issuableKinds, noteableColumns, rowOf } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import type { Caller } from '../../../http/index.ts';
import type { Reference } from '../../../markdown/index.ts';
import { type Named, pairsMeant, type Surroundings, thingsNamed } from '../markdown/reference_queries.ts';
import { referringTo } from './queries.ts';

/** The maximum number of issues, and of epics, mentioned by one text. */
const maximumTargets = 100;

interface CrossReferences {
  /** The author: they can only mention what they may read. */
  actor: Caller;
  /** Its context. */
  source: Followed;
  references: readonly Reference[];
}

/** The columns needed for references to the source in other texts. */
interface Referrer {
  /** The number after the sign of its kind; for a commit the first digits of its id. */
  name: string;
  /** The id of its project or group. */
  place_id: number;
  full_path: string;
  /** The id of its group, or of its project's group. */
  group_id: number;
  group_path: string;
}

/** The number of digits shown of a commit's id. */
const shortId_characters = 8;

async function referrerOf(tx: Database, source: Followed): Promise<Referrer> {
  const { places } = source.kind;
  const { rows: placed, isIts } = rowOf(source);
  const name =
    'id' in source
      ? sql`${source.kind.sign} || ${sql.ref(`${source.kind.table}.iid`)}`
      : sql`${source.sha.slice(0, shortId_characters)}`;
  const group = places === 'projects' ? sql`projects.namespace_id` : sql`namespaces.id`;
  const { rows } = await sql<Referrer>`
    select (${name})::text as name, ${sql.ref(`${places}.id`)} as place_id, ${sql.ref(`${places}.full_path`)}::text as full_path,
           groups.id as group_id, groups.full_path::text as group_path
      from ${placed} join namespaces groups on groups.id = ${group}
     where ${isIts}`.execute(tx);
  return rows[0]!;
}

const surroundingsOf = ({ kind }: Followed, { full_path, group_path }: Referrer): Surroundings => ({
  project_path: kind.places === 'projects' ? full_path : undefined,
  group_path,
});

/** The reference to the source in the context of the target: only the iid if both are in the same project or group. */
function nameFor(target: Named, { kind, ...source }: Followed, referrer: Referrer): string {
  const isNear =
    kind.places === 'projects'
      ? target.kind.places === 'projects' && target.place_id === referrer.place_id
      : target.group_id === referrer.group_id;
  const separator = 'id' in source ? '' : '@';
  return `${kind.name} ${isNear ? '' : `${referrer.full_path}${separator}`}${referrer.name}`;
}

/**
 * Adds a system note to each issue and epic that a text references and its author may read, unless the note exists
 * already. Always ordered by id, so that concurrent texts cannot deadlock.
 */
export async function noteCrossReferences(tx: Database, { actor, source, references }: CrossReferences): Promise<void> {
  const named = issuableKinds.filter(({ reference }) => references.some(({ kind }) => kind === reference));
  if (named.length === 0) return;
  const referrer = await referrerOf(tx, source);
  const surroundings = surroundingsOf(source, referrer);
  const targets: Named[] = [];
  for (const kind of named)
    targets.push(...(await thingsNamed(tx, actor, kind, pairsMeant(kind, references, surroundings, maximumTargets))));
  const others = targets.filter(({ kind, id }) => kind !== source.kind || !('id' in source) || id !== source.id);
  if (others.length === 0) return;
  const notes = others.map((target) => ({
    ...noteableColumns(target),
    ...referringTo(source),
    body: `mentioned in ${nameFor(target, source, referrer)}`,
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
