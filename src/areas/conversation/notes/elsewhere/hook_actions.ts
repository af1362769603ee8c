/** Hook events of comments (docs/reference/hooks.md#events). */
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { IssuableKind, OnNoteable, StoredKind } from '../../../../access/index.ts';
import { type Database, plainColumns } from '../../../../db/index.ts';
import { type HookItem, type Sample, sampled } from '../../../activity/hooks/index.ts';
import { addHookEvents, hooksAsking, newsOf } from '../../../instance/hook_events/index.ts';
import type { Discussable } from '../definition.ts';
import { type NoteNews, noteTelling } from './hook_present.ts';

const isStored = (item: HookItem): item is HookItem<StoredKind> => 'table' in item.kind;

/**
 * A predicate on rows of `notes`: some readers of the project may not read the comment, since it is internal or on a
 * confidential item.
 */
function isConfidentialNote(on: HookItem): RawBuilder<SqlBool> {
  if (!on.isConfidential || !isStored(on)) return sql`notes.internal`;
  const { kind, isConfidential } = on;
  return sql`(notes.internal or exists (
    select from ${sql.table(kind.table)} where ${sql.ref(`${kind.table}.id`)} = ${sql.ref(`notes.${kind.column}`)} and ${isConfidential}))`;
}

async function isConfidential(db: Database, on: HookItem, id: number): Promise<boolean> {
  const { rows } = await sql<{
    is: boolean;
  }>`select ${isConfidentialNote(on)} as is from notes where id = ${id}`.execute(db);
  return rows[0]?.is ?? false;
}

/** The news of a comment. */
const newsOfNote = (on: HookItem, { id, project_id, actor_id, action }: Omit<NoteNews, 'item'>): RawBuilder<NoteNews> =>
  newsOf(
    {
      ...plainColumns('notes', ['id']),
      project_id: sql<number>`${project_id}::bigint`,
      actor_id: sql<number>`${actor_id}::bigint`,
      action: sql<NoteNews['action']>`${action}::text`,
      item: sql.ref<never>(`notes.${on.kind.column}`),
    },
    sql`from notes where notes.id = ${id}`,
  );

/**
 * Enqueues an event about a comment in a project.
 * @param tx the transaction that writes it
 * @param noun the noun of the commented item; only nouns with a hook description trigger hooks
 */
export async function tellOfNote(
  tx: Database,
  { hook }: Discussable,
  { caller, on }: OnNoteable,
  note_id: number,
  action: NoteNews['action'],
): Promise<void> {
  if (!hook || !('project' in on.in)) return;
  const project_id = on.in.project.id;
  const asking = await hooksAsking(tx, { project_id }, ['note_events', 'confidential_note_events']);
  if (asking.length === 0) return;
  const confidential = await isConfidential(tx, hook, note_id);
  const trigger = confidential ? 'confidential_note_events' : 'note_events';
  const rows = newsOfNote(hook, { id: note_id, project_id, actor_id: caller.id, action });
  await addHookEvents(tx, asking, { event: noteTelling(hook), trigger, rows });
}

/**
 * The newest comment on the most recently changed item of a project, among comments that everyone who can read the
 * project may read.
 */
const newestOn = (
  { kind: { table, column }, isConfidential = sql`false` }: HookItem<IssuableKind>,
  project_id: number,
) => {
  const of = (name: string) => sql.ref(`${table}.${name}`);
  return sql`
    (select notes.id, ${sql.lit(column)} as on_column from ${sql.table(table)} join notes on ${sql.ref(`notes.${column}`)} = ${of('id')}
      where ${of('project_id')} = ${project_id} and not ${isConfidential} and not system and not internal order by ${of('updated_at')} desc, notes.id desc limit 1)`;
};

/**
 * A sample: the newest comment in a project that everyone who can read the project may read, as if it had just been
 * written.
 * @param items the nouns in projects that can have comments
 * @param commits commits, whose comments are known by project
 */
export const sampleNote =
  (items: readonly HookItem<IssuableKind>[], commits: HookItem): Sample =>
  async ({ db }, { project_id, user_id }) => {
    const { rows } = await sql<{ id: number; on_column: string }>`
      select id, on_column from (
        (select notes.id, ${sql.lit(commits.kind.column)} as on_column from notes
          where project_id = ${project_id} and not system and not internal order by id desc limit 1)
        union all ${sql.join(
          items.map((item) => newestOn(item, project_id)),
          sql` union all `,
        )}
      ) newest order by id desc limit 1`.execute(db);
    const [newest] = rows;
    const on = newest && [...items, commits].find(({ kind }) => kind.column === newest.on_column)!;
    const news = newest && { id: newest.id, project_id, actor_id: user_id, action: 'create' as const };
    return on && news && sampled(noteTelling(on), newsOfNote(on, news));
  };
