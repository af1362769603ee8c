/** Hook events of reactions (docs/reference/hooks.md#events). */
import { type RawBuilder, sql } from 'kysely';
import type { StoredKind } from '../../../access/index.ts';
import { type Database, plainColumns } from '../../../db/index.ts';
import { type HookItem, type Sample, sampled } from '../../activity/hooks/index.ts';
import { inProject, newsOf, tellEach } from '../../instance/hook_events/index.ts';
import { awardTelling } from './hook_present.ts';

/** The target of a reaction as hooks show it. */
type On = HookItem<StoredKind>;

type Event = 'award' | 'revoke';

/** Reactions in projects whose target everyone who can read the project may read. */
const rowsOf = (
  { kind: { table, column }, isConfidential = sql`false` }: On,
  event: Event,
  which: RawBuilder<unknown>,
) =>
  newsOf(
    {
      ...inProject,
      ...plainColumns('award_emoji', ['id', 'name', 'user_id', 'note_id']),
      created_at: sql<string>`award_emoji.created_at`,
      updated_at: sql<string>`award_emoji.updated_at`,
      action: sql<Event>`${event}::text`,
      item: sql.ref<never>(`${table}.id`),
    },
    sql`
      from award_emoji left join notes on notes.id = award_emoji.note_id
      join ${sql.table(table)} on ${sql.ref(`${table}.id`)} = coalesce(award_emoji.${sql.ref(column)}, notes.${sql.ref(column)})
      join projects on projects.id = ${sql.ref(`${table}.project_id`)}
      join namespaces on namespaces.id = projects.namespace_id
     where ${which} and not ${isConfidential} and not coalesce(notes.internal, false)`,
  );

/**
 * @param tx the transaction of the change; for a removed reaction, before the removal
 * @param on the target; only nouns with a hook description trigger hooks
 * @param which a predicate on rows of `award_emoji`
 */
export async function tellOfAward(
  tx: Database,
  on: On | undefined,
  event: Event,
  which: RawBuilder<unknown>,
): Promise<void> {
  if (on) await tellEach(tx, awardTelling(on), rowsOf(on, event, which));
}

/** A sample reaction to the newest non-confidential item of a project, as if the user had just added it. */
export const sampleAward =
  (on: On): Sample =>
  async (_services, { project_id, user_id }) =>
    sampled(
      awardTelling(on),
      newsOf(
        {
          project_id: sql<number>`project_id`,
          id: sql<number>`id`,
          name: sql<string>`'thumbsup'::text`,
          user_id: sql<number>`${user_id}::bigint`,
          created_at: sql<string>`now()`,
          updated_at: sql<string>`now()`,
          note_id: sql<number | null>`null::bigint`,
          action: sql<Event>`'award'::text`,
          item: sql<never>`id`,
        },
        sql`from ${sql.table(on.kind.table)} where project_id = ${project_id} and not ${on.isConfidential ?? sql`false`}
             order by created_at desc, id desc`,
      ),
    );
